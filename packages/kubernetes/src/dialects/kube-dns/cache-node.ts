/**
 * One service in the tree that kube-dns prints at `/cache`, with the field names of its Go structures.
 */
import type { ServiceView } from '../dialect.ts';
import type { KubeDnsEntry } from './entry.ts';
import { serviceEntries } from './service-entries.ts';

export interface CacheNode {
  readonly ChildNodes: Readonly<Record<string, CacheNode>>;
  readonly Entries: Readonly<Record<string, CacheEntry>>;
}

export interface CacheEntry {
  readonly host: string;
  /** Absent if 0. */
  readonly port?: number;
  readonly priority: number;
  readonly weight: number;
  /** Seconds. */
  readonly ttl: number;
}

const PRIORITY = 10;
const WEIGHT = 10;

/** An ExternalName is not a node: it is an entry of its namespace. */
export function serviceNode(view: ServiceView): CacheNode | { readonly external: CacheEntry } {
  const { address } = view.service;
  const entries = serviceEntries(view);
  if (address.kind === 'externalName') return { external: cacheEntry(address.name, 0, view.ttl) };
  return {
    ChildNodes: portNodes(entries?.ports ?? new Map(), view.ttl),
    Entries: entriesByKey(entries?.own ?? [], view.ttl),
  };
}

function portNodes(
  ports: ReadonlyMap<string, readonly KubeDnsEntry[]>,
  ttl: number,
): Readonly<Record<string, CacheNode>> {
  const protocols = new Map<string, [string, CacheNode][]>();
  for (const [labels, entries] of ports) {
    const [port = '', protocol = ''] = labels.split('.');
    const node = { ChildNodes: {}, Entries: entriesByKey(entries, ttl) };
    protocols.set(protocol, [...(protocols.get(protocol) ?? []), [port, node]]);
  }
  const nodes = Array.from(
    protocols,
    ([protocol, children]) => [protocol, { ChildNodes: inOrder(children), Entries: {} }] as const,
  );
  return inOrder(nodes);
}

/** Of several entries under one key only the last is shown: kube-dns holds one. */
function entriesByKey(entries: readonly KubeDnsEntry[], ttl: number): Readonly<Record<string, CacheEntry>> {
  return inOrder(
    entries.map(({ name, host, port }) => {
      const text = host.kind === 'addresses' ? (host.addresses.at(-1) ?? '') : host.target;
      return [name.slice(0, name.indexOf('.')), cacheEntry(text, port, ttl)] as const;
    }),
  );
}

function cacheEntry(host: string, port: number, ttl: number): CacheEntry {
  return { host, ...(port === 0 ? {} : { port }), priority: PRIORITY, weight: WEIGHT, ttl };
}

/** An object whose keys are printed in sorted order. */
export function inOrder<Value>(
  pairs: readonly (readonly [name: string, value: Value])[],
): Readonly<Record<string, Value>> {
  return Object.fromEntries(pairs.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
