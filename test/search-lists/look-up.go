// Looks a name up as programs in Go do, by the resolver of its standard library:
//
//	look-up NAME
package main

import (
	"context"
	"net"
	"os"
)

func main() {
	resolver := net.Resolver{PreferGo: true}
	if _, err := resolver.LookupIP(context.Background(), "ip4", os.Args[1]); err != nil {
		os.Exit(1)
	}
}
