/**
 * The addresses that clients reach a server block at, for its own name in the zone of a cluster.
 */
import { networkInterfaces } from 'node:os';

/** @param server `dns://:53` stands for all addresses of this machine, `dns://192.0.2.1:53` for one. None of them is a loopback address. */
export function addressesOfServer(server: string): readonly string[] {
  const bound = /^\w+:\/\/\[?(.*?)\]?:\d+$/.exec(server)?.[1] ?? '';
  const own = Object.values(networkInterfaces())
    .flatMap((entries) => entries ?? [])
    .filter(({ internal }) => !internal)
    .map(({ address }) => address);
  return bound === '' ? own : own.filter((address) => address === bound);
}
