/**
 * Compiles a plan for names outside the cluster to the options of the last plugins: `cache` and `forward`.
 */
import type { PluginUse } from '@portolan/kernel/contract/plugin-use.ts';
import { type CachingRules, SERVE_CACHING } from '@portolan/kernel/forward/caching/caching-rules.ts';
import {
  DEFAULT_FORWARD_PLAN,
  defaultRule,
  type ForwardPlan,
  type ForwardRule,
} from '@portolan/kernel/forward/forward-plan.ts';
import type { UpstreamAddress } from '@portolan/kernel/forward/upstream-address.ts';
import { type NativeRules, RFC_8767 } from '@portolan/plugins/cache/options.ts';
import type { LastOptions } from '@portolan/server/plan/plain-block.ts';
import { EMPTY_CONFIG, type KubeDnsConfig } from '@portolan/server/settings/config-map/config-map.ts';
import { stubDomainRules } from '@portolan/server/settings/config-map/stub-domain-rules.ts';
import { makeCachingRules, toMaxTtl, toStaleDuration } from '../../dnsmasq/settings/caching-rules.ts';
import type { CachePlan, DnsmasqPlan } from '../../dnsmasq/settings/dnsmasq-plan.ts';
import { makeForwardPlan } from '../../dnsmasq/settings/forward-plan.ts';
import type { ResolverPlan } from './serve-options.ts';

/** Servers that can change at run time. */
export interface ServeInputs {
  /** The current nameservers of the resolv file. */
  readonly fromFile: readonly UpstreamAddress[];
  /** The current ConfigMap. */
  readonly config: KubeDnsConfig;
  /** Plugins of `--blocks-extra`. Default: none. */
  readonly extra?: readonly PluginUse[];
}

export const NO_SERVERS: ServeInputs = { fromFile: [], config: EMPTY_CONFIG };

export function makeLastOptions(plan: ResolverPlan, changing: ServeInputs): LastOptions {
  const filteredTypes = new Set(plan.dnsmasq?.filters.types);
  return { cache: makeCacheRules(plan), forward: makeForward(plan, changing), filteredTypes };
}

function makeCacheRules({ dnsmasq }: ResolverPlan): NativeRules {
  const stale = dnsmasq?.cache.stale ?? 'never';
  return {
    kind: 'own',
    caching: dnsmasq === undefined ? SERVE_CACHING : makeCaching(dnsmasq.cache),
    serveStale: stale === 'never' ? RFC_8767 : { ...RFC_8767, duration: toStaleDuration(stale) },
    refreshesUsed: true,
    maxTtl: dnsmasq && toMaxTtl(dnsmasq.cache),
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
