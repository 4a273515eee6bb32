/**
 * The addresses at which clients reach a server block, for its own name in the zone of a cluster.
 */
import { networkInterfaces } from 'node:os';

/** @param server `dns://:53` means all addresses of this machine, `dns://192.0.2.1:53` only one; loopback addresses are excluded */
export function addressesOfServer(server: string): readonly string[] {
  const bound = /^\w+:\/\/\[?(.*?)\]?:\d+$/.exec(server)?.[1] ?? '';
  const own = Object.values(networkInterfaces())
    .flatMap((entries) => entries ?? [])
    .filter(({ internal }) => !internal)
    .map(({ address }) => address);
  return bound === '' ? own : own.filter((address) => address === bound);
}
