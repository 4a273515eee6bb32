/**
 * The network interfaces of this machine, by the names that directives use.
 */
import { networkInterfaces } from 'node:os';

/** Addresses by interface name. Link-local addresses include their zone, which sockets need to bind them. */
export function addressesByInterface(): ReadonlyMap<string, readonly string[]> {
  return new Map(
    Object.entries(networkInterfaces()).map(([name, addresses = []]) => [
      name,
      addresses.map(({ address, scopeid = 0 }) => (scopeid > 0 ? `${address}%${name}` : address)),
    ]),
  );
}
