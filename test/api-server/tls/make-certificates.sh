#!/bin/sh
# Makes the certificates that the tests use: a private authority, a server for 127.0.0.1, a client, a century long.
# They protect nothing. Run it in this folder.
set -eu
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 36500 -sha256 \
  -subj '/CN=portolan test authority' -keyout authority.key -out authority.crt
make() {
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -sha256 -subj "/CN=$2" -keyout "$1.key" -out "$1.csr"
  printf '%s\n' "$3" > "$1.ext"
  openssl x509 -req -in "$1.csr" -CA authority.crt -CAkey authority.key -CAcreateserial -days 36500 -sha256 \
    -extfile "$1.ext" -out "$1.crt"
  rm "$1.csr" "$1.ext"
}
make server kubernetes 'subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:kubernetes.default.svc'
make client portolan-client 'extendedKeyUsage=clientAuth'
rm -f authority.srl authority.key
