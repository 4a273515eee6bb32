/**
 * The node cache's part of the ConfigMap of kube-dns. Servers stay in their original text form, since they go into a Corefile.
 */
import { parseAddress } from '@portolan/dns/address.ts';
import type { ConfigTexts } from '@portolan/kubernetes/config-map/config-texts.ts';
import { readKubeDnsConfig } from '@portolan/server/settings/config-map/config-map.ts';
import type { Checked, Problem } from '@portolan/server/settings/values/problem.ts';

export interface NodeCacheConfig {
  /** Empty: use the nameservers of resolv.conf. */
  readonly upstreams: readonly string[];
  /** Without domains that have no servers: CoreDNS would reject the whole Corefile. */
  readonly stubDomains: ReadonlyMap<string, readonly string[]>;
}

/** Without `federations`: since April 2026 the original ignores this key, even with values that kube-dns refuses. */
export const NODE_CACHE_KEYS = ['stubDomains', 'upstreamNameservers'] as const;

export const EMPTY_NODE_CACHE_CONFIG: NodeCacheConfig = { upstreams: [], stubDomains: new Map() };

/**
 * Applies the rules of kube-dns; in addition, servers of stub domains must be addresses.
 *
 * @param texts the values of `NODE_CACHE_KEYS`
 */
export function readNodeCacheConfig(texts: ConfigTexts): Checked<NodeCacheConfig> {
  const reading = readKubeDnsConfig(texts);
  if (reading.kind === 'bad') return reading;
  // Already validated above: a list of texts, and lists of texts by domain.
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
    .filter((server) => parseAddress(parseHost(server)) === undefined)
    .map((value) => ({
      where: `stubDomains: ${domain}`,
      fault: 'not an address',
      value,
      remedy: 'Give addresses: a node has no other DNS server to look up names of servers with.',
    }));
}

/** The host of `192.0.2.1:53`, `[2001:db8::1]:53` or a bare address. */
function parseHost(server: string): string {
  return /^\[(.*)\]:\d+$/.exec(server)?.[1] ?? /^([^:]*):\d+$/.exec(server)?.[1] ?? server;
}
