/**
 * The addresses of a node's DNS cache, and whether a program listens there, from the texts below `/proc/net`.
 *
 * The address is link-local, so that no machine of the network has it. The interface of a cache may be down, so that Node.js does not
 * list it; the kernel's table of local addresses has it all the same.
 */
import type { LocalCacheEvidence } from '@portolan/server/reasons/node-evidence.ts';

/** The address that Kubernetes documents for its cache. */
const CUSTOMARY = '169.254.20.10';
const LINK_LOCAL = /^169\.254\./;
const DNS_PORT = 53;

/** @param trie `/proc/net/fib_trie` @param sockets `/proc/net/udp` */
export function findLocalListeners(trie: string, sockets: string): readonly LocalCacheEvidence[] {
  const served = listeningAddresses(sockets);
  const isServed = (address: string) => served.has(address) || served.has('0.0.0.0');
  return localAddresses(trie)
    .filter((address) => LINK_LOCAL.test(address) && (address === CUSTOMARY || served.has(address)))
    .map((address) => ({ address, isServed: isServed(address) }));
}

/** `|-- 169.254.20.10`, and below it `/32 host LOCAL`. */
export function localAddresses(trie: string): readonly string[] {
  const found = trie.matchAll(/\|-- (\d+\.\d+\.\d+\.\d+)\n\s+\/32 host LOCAL/g);
  return [...new Set(Array.from(found, ([, address = '']) => address))];
}

/** The second column is `0A14FEA9:0035`: the address as a number in the order of the machine, and the port. */
function listeningAddresses(sockets: string): ReadonlySet<string> {
  const found = sockets.matchAll(/^\s*\d+: ([0-9A-F]{8}):([0-9A-F]{4}) /gm);
  return new Set(
    Array.from(found)
      .filter(([, , port = '']) => Number.parseInt(port, 16) === DNS_PORT)
      .map(([, address = '']) => formatIpv4Address(Number.parseInt(address, 16))),
  );
}

function formatIpv4Address(number: number): string {
  const octets = Buffer.alloc(4);
  octets.writeUInt32LE(number);
  return octets.join('.');
}
