/**
 * Compiles a plan for names outside the cluster to the options of the resolver.
 */

import { type CachingRules, SERVE_CACHING } from '../../forward/caching/caching-rules.ts';
import { RFC_8767 } from '../../forward/caching/expiry.ts';
import {
  DEFAULT_FORWARD_PLAN,
  defaultRule,
  type ForwardPlan,
  type ForwardRule,
} from '../../forward/forward-plan.ts';
import type { UpstreamAddress } from '../../forward/upstream-address.ts';
import type { StaleSettings } from '../../plugins/resolver/caching-resolver.ts';
import type { ResolverSettings } from '../../plugins/resolver/resolver.ts';
import { EMPTY_CONFIG, type KubeDnsConfig } from '../config-map/config-map.ts';
import { stubDomainRules } from '../config-map/stub-domain-rules.ts';
import { makeCachingRules, maxTtlOf } from '../dnsmasq/caching-rules.ts';
import type { CachePlan, DnsmasqPlan } from '../dnsmasq/dnsmasq-plan.ts';
import { makeForwardPlan } from '../dnsmasq/forward-plan.ts';
import type { ResolverPlan } from '../plan.ts';

/** Milliseconds a client waits before it gets a stale answer: RFC 8767 section 5. */
const PATIENCE = 1_800;

/** Servers that can change at run time. */
export interface ServeInputs {
  /** The current nameservers of the resolv file. */
  readonly fromFile: readonly UpstreamAddress[];
  /** The current ConfigMap. */
  readonly config: KubeDnsConfig;
}

export const NO_SERVERS: ServeInputs = { fromFile: [], config: EMPTY_CONFIG };

export function makeResolverSettings(plan: ResolverPlan, changing: ServeInputs): ResolverSettings {
  const { dnsmasq } = plan;
  return {
    forward: makeForward(plan, changing),
    caching: dnsmasq === undefined ? SERVE_CACHING : makeCaching(dnsmasq.cache),
    stale: makeStale(dnsmasq?.cache.stale ?? 'never'),
    prefetch: true,
    maxTtl: dnsmasq && maxTtlOf(dnsmasq.cache),
    changes: [],
    filteredTypes: new Set(dnsmasq?.filters.types),
  };
}

function makeForward(plan: ResolverPlan, { fromFile, config }: ServeInputs): ForwardPlan {
  const { dnsmasq, stubDomains, policy, trustsAd, mixesCase } = plan;
  const { timing, retry, hedging, failFast, tryNextOn, loopDetection } = DEFAULT_FORWARD_PLAN;
  const given = dnsmasq === undefined ? DEFAULT_FORWARD_PLAN : fromDnsmasq(dnsmasq, fromFile);
  // For equal names the last rule wins, so flags override the ConfigMap.
  const rules = [
    ...given.rules,
    ...stubDomainRules(config),
    ...stubDomains,
    ...rootRules(plan, fromFile, config.upstreams),
  ];
  const own = { policy, timing, retry, hedging, failFast, tryNextOn, loopDetection, trustsAd, mixesCase };
  return { ...given, ...own, rules };
}

function fromDnsmasq(dnsmasq: DnsmasqPlan, fromFile: readonly UpstreamAddress[]): ForwardPlan {
  return makeForwardPlan(dnsmasq, { fromResolvFile: fromFile, moreRoutes: [] });
}

/** Default servers, unless the dnsmasq options name them. */
function rootRules(
  { upstreams, dnsmasq }: ResolverPlan,
  fromFile: readonly UpstreamAddress[],
  fromConfig: readonly UpstreamAddress[],
): ForwardRule[] {
  if (upstreams.kind === 'servers') return [defaultRule(upstreams.servers)];
  if (upstreams.kind === 'resolv-file' && fromConfig.length > 0) return [defaultRule(fromConfig)];
  return dnsmasq === undefined && fromFile.length > 0 ? [defaultRule(fromFile)] : [];
}

const MAX_DENIAL_SECONDS = SERVE_CACHING.maxNegativeTtl ?? 0;

function makeCaching(cache: CachePlan): CachingRules {
  // Keep an explicit TTL for negative answers.
  const maxNegativeTtl = Math.max(MAX_DENIAL_SECONDS, cache.negativeTtl);
  return { ...makeCachingRules(cache, SERVE_CACHING), maxNegativeTtl };
}

function makeStale(stale: CachePlan['stale']): StaleSettings {
  const maxSeconds = stale === 'never' ? RFC_8767.maxSeconds : stale === 'forever' ? undefined : stale;
  return { ...RFC_8767, maxSeconds, timeout: PATIENCE };
}
