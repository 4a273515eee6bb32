/**
 * Where questions about names outside the cluster go, and how their answers are kept.
 */
import type { ForwardRule, Policy } from '../../forward/plan.ts';
import type { UpstreamAddress } from '../../forward/upstream-address.ts';
import type { DnsmasqPlan } from '../dnsmasq/plan.ts';

export interface ResolverPlan {
  readonly upstreams: UpstreamsChoice;
  readonly policy: Policy;
  /** Each for one or several domains; before `upstreams` where they match. */
  readonly stubDomains: readonly ForwardRule[];
  /** Hosts files and folders of them, in the order in which they are read. */
  readonly hosts: readonly string[];
  /** Octets for cached answers; 0 keeps none. */
  readonly cacheOctets: number;
  /** Cached answers at most; undefined: as many as there is room for. */
  readonly cacheEntries: number | undefined;
  /** What a file of dnsmasq's options says. */
  readonly dnsmasq: DnsmasqPlan | undefined;
  /** What is good to know about these options, to be told at the start. */
  readonly notes: readonly string[];
}

/** Who is asked about names that no rule is for. */
export type UpstreamsChoice =
  /** Nobody: they are refused. */
  | { readonly kind: 'none' }
  | { readonly kind: 'servers'; readonly servers: readonly UpstreamAddress[] }
  /** The servers of a resolv.conf, followed as it changes. */
  | { readonly kind: 'resolv-file'; readonly path: string };

export const POLICIES = [
  'sequential',
  'random',
  'round-robin',
  'fastest',
  'all',
] as const satisfies readonly Policy[];
