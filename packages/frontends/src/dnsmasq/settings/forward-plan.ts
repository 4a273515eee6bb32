/**
 * Compiles dnsmasq's servers and routes to a plan of the forwarder.
 */
import { ROOT } from '@portolan/dns/name.ts';
import { RCODE } from '@portolan/dns/types.ts';
import type { PluginUse } from '@portolan/kernel/contract/plugin-use.ts';
import {
  DEFAULT_FORWARD_PLAN,
  defaultRule,
  type ForwardPlan,
  type ForwardRule,
  type ForwardTarget,
  type Policy,
  type RuleMatch,
  type UpstreamServer,
} from '@portolan/kernel/forward/forward-plan.ts';
import type { SourcePorts } from '@portolan/kernel/forward/transport/udp-transport.ts';
import type { UpstreamAddress } from '@portolan/kernel/forward/upstream-address.ts';
import type { NameScope } from '@portolan/plugins/local-names/name-scopes.ts';
import type { DnsmasqPlan, DnsmasqRoute, UpstreamsPlan } from './dnsmasq-plan.ts';

/** Inputs that change while the server runs. */
export interface DnsmasqInputs {
  /** Default servers from a resolv file; servers from options precede them. */
  readonly fromResolvFile: readonly UpstreamAddress[];
  /** Routes from files that can be reread. */
  readonly moreRoutes: readonly DnsmasqRoute[];
  readonly nanny?: NannyServers;
  /** Whether the address belongs to this server; such servers are left out. */
  readonly isOurselves?: (server: UpstreamAddress) => boolean;
  /** Plugins of `--blocks-extra`. Default: none. */
  readonly extra?: readonly PluginUse[];
}

/** Servers from the ConfigMap folder of dnsmasq-nanny. */
export interface NannyServers {
  /** Added to the options' rules: rules for the same names combine their servers. */
  readonly rules: readonly ForwardRule[];
  /** Whether to ignore resolv files. */
  readonly replacesResolvFiles: boolean;
}

const NO_NANNY: NannyServers = { rules: [], replacesResolvFiles: false };

const POLICY: Readonly<Record<UpstreamsPlan['choice'], Policy>> = {
  preferred: 'fastest',
  'in-order': 'sequential',
  all: 'all',
};

/** Milliseconds: the minimum timeout of a server, and the time after which a client's query counts as a repeat. */
const MIN_TIMEOUT = 400;
const RETRY_INTERVAL = 850;
/** Milliseconds after which a query without a reply is given up: `TIMEOUT` in dnsmasq's `config.h`. */
export const DNSMASQ_TIMEOUT = 10_000;

/**
 * Unanswered queries are forwarded again only when the client repeats them: to all servers, or in strict order to the next one. The
 * first reply from any server counts. A query without a reply is given up after `DNSMASQ_TIMEOUT`.
 */
function dnsmasqRetries({ retry, choice }: UpstreamsPlan): Pick<ForwardPlan, 'timing' | 'retry' | 'hedging'> {
  const { timing: usual, retry: byTimeout } = DEFAULT_FORWARD_PLAN;
  const timing = { ...usual, minTimeout: MIN_TIMEOUT, negativeWait: 0 };
  if (retry === undefined)
    return {
      timing: { ...timing, deadline: DNSMASQ_TIMEOUT },
      retry: {
        ...byTimeout,
        interval: RETRY_INTERVAL,
        trigger: 'client',
        scope: choice === 'in-order' ? 'next' : 'all',
      },
      hedging: false,
    };
  return {
    timing: { ...timing, firstTimeout: retry.after, deadline: Math.min(timing.deadline, retry.until) },
    retry: { ...byTimeout, interval: Math.max(retry.after, RETRY_INTERVAL) },
    hedging: true,
  };
}

/** The port range without any option. */
const ALL_PORTS = { min: 1024, max: 65_535 };

export function makeForwardPlan(
  { upstreams, filters, listen }: DnsmasqPlan,
  { fromResolvFile, moreRoutes, nanny = NO_NANNY, isOurselves = () => false }: DnsmasqInputs,
): ForwardPlan {
  const { limits } = DEFAULT_FORWARD_PLAN;
  const { forwardMax } = upstreams;
  return {
    ...DEFAULT_FORWARD_PLAN,
    ...dnsmasqRetries(upstreams),
    failFast: false,
    tryNextOn: [RCODE.SERVFAIL, RCODE.REFUSED],
    rules: withoutServers(isOurselves, [
      ...toForwardRules(upstreams.routes, moreRoutes),
      ...nanny.rules,
      ...(nanny.replacesResolvFiles || fromResolvFile.length === 0 ? [] : [defaultRule(fromResolvFile)]),
    ]),
    policy: POLICY[upstreams.choice],
    loopDetection: upstreams.detectsLoops,
    limits: { ...limits, inFlight: forwardMax, perClient: Math.min(limits.perClient, forwardMax) },
    sourcePorts: toSourcePorts(upstreams.sourcePorts),
    udpSize: listen.ednsPacketMax,
    ignoredAddresses: filters.ignoredAddresses,
  };
}

function toForwardRules(...lists: readonly (readonly DnsmasqRoute[])[]): readonly ForwardRule[] {
  const scopes = new Map<string, DnsmasqRoute[]>();
  // Routes that answer with addresses do not forward, and there can be very many of them.
  const forwarding = lists.flatMap((routes) => routes.filter(({ action }) => !isAddress(action)));
  for (const route of forwarding) {
    const key = JSON.stringify(route.scope);
    const same = scopes.get(key);
    if (same === undefined) scopes.set(key, [route]);
    else same.push(route);
  }
  return [...scopes.values()].flatMap((same) => toForwardRule(same) ?? []);
}

function isAddress({ kind }: DnsmasqRoute['action']): boolean {
  return kind === 'address' || kind === 'null-address';
}

/** Keeps rules that lose all their servers, so that their names are not forwarded elsewhere. */
function withoutServers(
  isLeftOut: (server: UpstreamAddress) => boolean,
  rules: readonly ForwardRule[],
): readonly ForwardRule[] {
  return mergeRules(rules).map((rule) => {
    if (rule.target.kind !== 'servers') return rule;
    const servers = rule.target.servers.filter(({ address }) => !isLeftOut(address));
    return { ...rule, target: { kind: 'servers', servers } };
  });
}

/** Merges rules for the same names into one rule with all their servers. A rule that forbids forwarding stays as it is. */
function mergeRules(rules: readonly ForwardRule[]): readonly ForwardRule[] {
  const merged = new Map<string, ForwardRule>();
  for (const rule of rules) {
    const key = JSON.stringify(rule.names);
    const before = merged.get(key);
    if (before === undefined) merged.set(key, rule);
    else if (before.target.kind === 'servers' && rule.target.kind === 'servers') {
      const servers = [...before.target.servers, ...rule.target.servers];
      merged.set(key, { ...rule, target: { kind: 'servers', servers } });
    }
  }
  return [...merged.values()];
}

/** Of several actions for the same names, `local` wins, then `default`. */
function toForwardRule(same: readonly DnsmasqRoute[]): ForwardRule | undefined {
  const [first] = same;
  const actions = same.map(({ action }) => action);
  const target = toForwardTarget(actions);
  return first === undefined || target === undefined
    ? undefined
    : { names: [toRuleMatch(first.scope)], target };
}

function toForwardTarget(actions: readonly DnsmasqRoute['action'][]): ForwardTarget | undefined {
  if (actions.some(({ kind }) => kind === 'local')) return { kind: 'local-only' };
  if (actions.some(({ kind }) => kind === 'default')) return { kind: 'default' };
  const servers = actions.flatMap((action) => (action.kind === 'forward' ? [unpaced(action.server)] : []));
  return servers.length === 0 ? undefined : { kind: 'servers', servers };
}

function toRuleMatch(scope: NameScope): RuleMatch {
  switch (scope.kind) {
    case 'all':
      return { kind: 'domain', name: ROOT };
    case 'plain-names':
      return { kind: 'unqualified' };
    case 'domain':
      return scope;
    case 'suffix':
      return { kind: 'ending', text: `${scope.text}.` };
  }
}

function unpaced(address: UpstreamAddress): UpstreamServer {
  return { address, queriesPerSecond: undefined };
}

function toSourcePorts(ports: UpstreamsPlan['sourcePorts']): SourcePorts {
  if (ports.kind === 'fixed') return ports;
  const { min, max } = ports;
  if (min === ALL_PORTS.min && max === ALL_PORTS.max) return { kind: 'any' };
  return { kind: 'range', min, max };
}
