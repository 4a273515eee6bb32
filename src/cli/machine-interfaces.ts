/**
 * The network interfaces of this machine, as directives name them.
 */
import { networkInterfaces } from 'node:os';

/** Addresses by the names of their interfaces. Addresses of the link need the name of their interface to be listened on. */
export function addressesByInterface(): ReadonlyMap<string, readonly string[]> {
  return new Map(
    Object.entries(networkInterfaces()).map(([name, addresses = []]) => [
      name,
      addresses.map(({ address, scopeid = 0 }) => (scopeid > 0 ? `${address}%${name}` : address)),
    ]),
  );
}
