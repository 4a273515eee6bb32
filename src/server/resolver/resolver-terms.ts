/**
 * A plan about names outside the cluster as what the resolver follows.
 */
import type { CachePlan, DnsmasqPlan } from '../../config/dnsmasq/plan.ts';
import { EMPTY_CONFIG, type KubeDnsConfig } from '../../config/kube-dns/config-map.ts';
import type { ResolverPlan } from '../../config/resolver/plan.ts';
import { type CachingRules, SERVE_CACHING } from '../../forward/caching/caching-rules.ts';
import { RFC_8767 } from '../../forward/caching/expiry.ts';
import { DEFAULT_FORWARD_PLAN, defaultRule, type ForwardPlan, type ForwardRule } from '../../forward/plan.ts';
import type { UpstreamAddress } from '../../forward/upstream-address.ts';
import type { StaleTerms } from '../../handlers/resolver/remembering.ts';
import type { ResolverTerms } from '../../handlers/resolver/resolver.ts';
import { makeCachingRules, mostTtlOf } from '../dnsmasq/caching-rules.ts';
import { makeForwardPlan } from '../dnsmasq/forward-plan.ts';
import { stubDomainRules } from '../kube-dns/config-rules.ts';

/** Milliseconds that a client waits while there is a stale answer: RFC 8767 section 5. */
const PATIENCE = 1_800;

/** Servers that change while the server runs. */
export interface ChangingServers {
  /** Those that the resolv file names now. */
  readonly fromFile: readonly UpstreamAddress[];
  /** What the ConfigMap says now. */
  readonly config: KubeDnsConfig;
}

export const NO_SERVERS: ChangingServers = { fromFile: [], config: EMPTY_CONFIG };

export function makeResolverTerms(plan: ResolverPlan, changing: ChangingServers): ResolverTerms {
  const { dnsmasq } = plan;
  return {
    forward: makeForward(plan, changing),
    caching: dnsmasq === undefined ? SERVE_CACHING : makeCaching(dnsmasq.cache),
    stale: makeStale(dnsmasq?.cache.stale ?? 'never'),
    prefetch: true,
    mostTtl: dnsmasq && mostTtlOf(dnsmasq.cache),
    changes: [],
    hiddenTypes: new Set(dnsmasq?.filters.types),
    keepsOrder: dnsmasq?.cache.roundRobin === false,
  };
}

function makeForward(plan: ResolverPlan, { fromFile, config }: ChangingServers): ForwardPlan {
  const { dnsmasq, stubDomains, policy } = plan;
  const { timing, hedging, loopDetection } = DEFAULT_FORWARD_PLAN;
  const given = dnsmasq === undefined ? DEFAULT_FORWARD_PLAN : fromDnsmasq(dnsmasq, fromFile);
  // Of two rules for the same names the last one counts: what flags say holds whatever a ConfigMap says.
  const rules = [
    ...given.rules,
    ...stubDomainRules(config),
    ...stubDomains,
    ...rootRules(plan, fromFile, config.upstreams),
  ];
  return { ...given, rules, policy, timing, hedging, loopDetection };
}

function fromDnsmasq(dnsmasq: DnsmasqPlan, fromFile: readonly UpstreamAddress[]): ForwardPlan {
  return makeForwardPlan(dnsmasq, { fromResolvFile: fromFile, moreRoutes: [] });
}

/** Servers for all other names, unless they are among the options of dnsmasq already. */
function rootRules(
  { upstreams, dnsmasq }: ResolverPlan,
  fromFile: readonly UpstreamAddress[],
  fromConfig: readonly UpstreamAddress[],
): ForwardRule[] {
  if (upstreams.kind === 'servers') return [defaultRule(upstreams.servers)];
  if (upstreams.kind === 'resolv-file' && fromConfig.length > 0) return [defaultRule(fromConfig)];
  return dnsmasq === undefined && fromFile.length > 0 ? [defaultRule(fromFile)] : [];
}

const MOST_DENIAL_SECONDS = SERVE_CACHING.maxNegativeTtl ?? 0;

function makeCaching(cache: CachePlan): CachingRules {
  // Whoever gives a time for denials means it.
  const maxNegativeTtl = Math.max(MOST_DENIAL_SECONDS, cache.negativeTtl);
  return { ...makeCachingRules(cache, SERVE_CACHING), maxNegativeTtl };
}

function makeStale(stale: CachePlan['stale']): StaleTerms {
  const mostSeconds = stale === 'never' ? RFC_8767.mostSeconds : stale === 'forever' ? undefined : stale;
  return { ...RFC_8767, mostSeconds, patience: PATIENCE };
}
