/**
 * The lines that CoreDNS prints at start: each zone with its port, and its address if `bind` sets one.
 */
import { availableParallelism } from 'node:os';
import { followsPreferredSyntax } from '@portolan/corefile/keys/server-key.ts';
import { quoteGo } from '@portolan/corefile/keys/zone-name.ts';
import type { ServerBlock } from './read-corefile.ts';

/** Sorted by zone within a listener; a warning precedes the line of its zone. */
export function startLines(blocks: readonly ServerBlock[]): readonly string[] {
  const listeners = new Map<
    string,
    {
      readonly prefix: string;
      readonly suffix: string;
      readonly sockets: number;
      readonly zones: Set<string>;
    }
  >();
  for (const { keys, plugins } of blocks) {
    const bind = plugins.find((use) => use.name === 'bind');
    const multisocket = plugins.find((use) => use.name === 'multisocket');
    const sockets =
      multisocket?.name === 'multisocket' ? (multisocket.options.sockets ?? availableParallelism()) : 1;
    const addresses = bind?.name === 'bind' ? bind.options.addresses : [''];
    for (const { scheme, shown, port } of keys)
      for (const address of addresses) {
        const prefix = scheme === 'dns' ? '' : `${scheme}://`;
        const suffix = `:${port}${address === '' ? '' : ` on ${address}`}`;
        const listener = listeners.get(prefix + suffix) ?? { prefix, suffix, sockets, zones: new Set() };
        listener.zones.add(shown);
        listeners.set(prefix + suffix, listener);
      }
  }
  return [...listeners.values()].flatMap(({ prefix, suffix, sockets, zones }) => {
    const lines = [...zones]
      .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      .flatMap((zone) => [
        ...(followsPreferredSyntax(zone)
          ? []
          : [`Warning: Domain ${quoteGo(zone)} does not follow RFC1035 preferred syntax`]),
        `${prefix}${zone}${suffix}`,
      ]);
    // In CoreDNS, each socket is a server with its own lines.
    return Array.from({ length: sockets }, () => lines).flat();
  });
}
