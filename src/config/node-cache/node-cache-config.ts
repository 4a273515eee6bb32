/**
 * What a node's cache takes from the ConfigMap of kube-dns: servers in the texts that they are written in, since they go into a
 * Corefile.
 */

import type { ConfigTexts } from '../../sources/config-map/config-texts.ts';
import { parseAddress } from '../../wire/address.ts';
import { readKubeDnsConfig } from '../config-map/config-map.ts';
import type { Checked, Problem } from '../values/problem.ts';

export interface NodeCacheConfig {
  /** None: those of resolv.conf. */
  readonly upstreams: readonly string[];
  /** Domains without servers are left out: CoreDNS would refuse the whole Corefile. */
  readonly stubDomains: ReadonlyMap<string, readonly string[]>;
}

/** Without `federations`: the original ignores them since April 2026, also those that kube-dns refuses. */
export const NODE_CACHE_KEYS = ['stubDomains', 'upstreamNameservers'] as const;

export const EMPTY_NODE_CACHE_CONFIG: NodeCacheConfig = { upstreams: [], stubDomains: new Map() };

/**
 * The rules are those of kube-dns; besides, servers of stub domains are addresses.
 *
 * @param texts of `NODE_CACHE_KEYS`
 */
export function readNodeCacheConfig(texts: ConfigTexts): Checked<NodeCacheConfig> {
  const reading = readKubeDnsConfig(texts);
  if (reading.kind === 'bad') return reading;
  // Checked by the reading above: lists of texts, and lists of texts by domain.
  const upstreams = (parseText(texts, 'upstreamNameservers') ?? []) as readonly string[];
  const written = (parseText(texts, 'stubDomains') ?? {}) as Readonly<
    Record<string, readonly string[] | null>
  >;
  const stubDomains = new Map(
    Object.entries(written).flatMap(([domain, servers]) =>
      servers === null || servers.length === 0 ? [] : [[domain, servers] as const],
    ),
  );
  const problems = [...stubDomains].flatMap(([domain, servers]) => hostNameProblems(domain, servers));
  return problems.length === 0
    ? { kind: 'good', value: { upstreams, stubDomains } }
    : { kind: 'bad', problems };
}

function parseText(texts: ConfigTexts, key: string): unknown {
  const value = texts.get(key);
  return value?.kind === 'text' ? (JSON.parse(value.text) as unknown) : undefined;
}

function hostNameProblems(domain: string, servers: readonly string[]): readonly Problem[] {
  return servers
    .filter((server) => parseAddress(hostOf(server)) === undefined)
    .map((value) => ({
      where: `stubDomains: ${domain}`,
      fault: 'not an address',
      value,
      remedy: 'Give addresses: a node has no other DNS server to look up names of servers with.',
    }));
}

/** `192.0.2.1:53`, `[2001:db8::1]:53` and bare addresses. */
function hostOf(server: string): string {
  return /^\[(.*)\]:\d+$/.exec(server)?.[1] ?? /^([^:]*):\d+$/.exec(server)?.[1] ?? server;
}
