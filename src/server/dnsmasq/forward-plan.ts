/**
 * dnsmasq's servers and routes as a plan for the forwarder.
 */
import type {
  DnsmasqPlan,
  Route,
  RouteScope,
  UpstreamAddress,
  UpstreamsPlan,
} from '../../config/dnsmasq/plan.ts';
import {
  DEFAULT_FORWARD_PLAN,
  defaultRule,
  type ForwardPlan,
  type ForwardRule,
  type ForwardTarget,
  type NameMatch,
  type Policy,
  type SourcePorts,
  type UpstreamServer,
} from '../../forward/plan.ts';
import type { UpstreamAddress as ForwardAddress } from '../../forward/upstream-address.ts';
import { ROOT } from '../../wire/name.ts';

/** What changes while the server runs. */
export interface ChangingServers {
  /** Servers for everything else, from a resolv file; those of the options come before them. */
  readonly fromResolvFile: readonly ForwardAddress[];
  /** Routes from files that are read again. */
  readonly moreRoutes: readonly Route[];
  readonly nanny?: NannyServers;
  /** Whether a server is this one; such are left out. */
  readonly isOurselves?: (server: ForwardAddress) => boolean;
}

/** What the nanny's folder says. */
export interface NannyServers {
  /** Beside those of the options: equal names have the servers of both. */
  readonly rules: readonly ForwardRule[];
  /** Whether resolv files do not count. */
  readonly replacesResolvFiles: boolean;
}

const NO_NANNY: NannyServers = { rules: [], replacesResolvFiles: false };

const POLICY: Readonly<Record<UpstreamsPlan['choice'], Policy>> = {
  preferred: 'fastest',
  'in-order': 'sequential',
  all: 'all',
};

/** The ports that are used when no option names any. */
const ALL_PORTS = { least: 1024, most: 65_535 };

export function makeForwardPlan(
  { upstreams, filters, listen }: DnsmasqPlan,
  { fromResolvFile, moreRoutes, nanny = NO_NANNY, isOurselves = () => false }: ChangingServers,
): ForwardPlan {
  const { timing, limits } = DEFAULT_FORWARD_PLAN;
  const { retry, forwardMax } = upstreams;
  return {
    ...DEFAULT_FORWARD_PLAN,
    rules: withoutServers(isOurselves, [
      ...rulesOf([...upstreams.routes, ...moreRoutes]),
      ...nanny.rules,
      ...(nanny.replacesResolvFiles || fromResolvFile.length === 0 ? [] : [defaultRule(fromResolvFile)]),
    ]),
    policy: POLICY[upstreams.choice],
    // A question that gets no reply is asked again early only where `--fast-dns-retry` says so.
    timing:
      retry === undefined
        ? timing
        : { ...timing, firstTimeout: retry.after, deadline: Math.min(timing.deadline, retry.until) },
    hedging: retry !== undefined,
    loopDetection: upstreams.detectsLoops,
    limits: { ...limits, inFlight: forwardMax, perClient: Math.min(limits.perClient, forwardMax) },
    sourcePorts: toSourcePorts(upstreams.sourcePorts),
    udpSize: listen.ednsPacketMax,
    ignoredAddresses: filters.ignoredAddresses,
  };
}

function rulesOf(routes: readonly Route[]): readonly ForwardRule[] {
  const scopes = new Map<string, Route[]>();
  for (const route of routes) {
    const key = JSON.stringify(route.scope);
    scopes.set(key, [...(scopes.get(key) ?? []), route]);
  }
  return [...scopes.values()].flatMap((same) => ruleOf(same) ?? []);
}

/** A rule that loses all its servers stays, so that its names do not go elsewhere. */
function withoutServers(
  isLeftOut: (server: ForwardAddress) => boolean,
  rules: readonly ForwardRule[],
): readonly ForwardRule[] {
  return mergeRules(rules).map((rule) => {
    if (rule.target.kind !== 'servers') return rule;
    const servers = rule.target.servers.filter(({ address }) => !isLeftOut(address));
    return { ...rule, target: { kind: 'servers', servers } };
  });
}

/** One rule per part of the name space, with the servers of all that name it. What is not to be asked stays so. */
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

/** Of several things to do with the same names, staying here comes first, then the servers for everything else. */
function ruleOf(same: readonly Route[]): ForwardRule | undefined {
  const [first] = same;
  const actions = same.map(({ action }) => action);
  const target = targetOf(actions);
  return first === undefined || target === undefined ? undefined : { names: [matchOf(first.scope)], target };
}

function targetOf(actions: readonly Route['action'][]): ForwardTarget | undefined {
  if (actions.some(({ kind }) => kind === 'local')) return { kind: 'local-only' };
  if (actions.some(({ kind }) => kind === 'default')) return { kind: 'default' };
  const servers = actions.flatMap((action) =>
    action.kind === 'forward' ? [unpaced(toForwardAddress(action.server))] : [],
  );
  // Names that only have addresses: what else is asked of them goes where it would without.
  return servers.length === 0 ? undefined : { kind: 'servers', servers };
}

function matchOf(scope: RouteScope): NameMatch {
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

function unpaced(address: ForwardAddress): UpstreamServer {
  return { address, queriesPerSecond: undefined };
}

export function toForwardAddress({ host, port, source }: UpstreamAddress): ForwardAddress {
  return {
    transport: 'udp',
    host:
      host.kind === 'name' || host.zone === undefined
        ? host
        : { kind: 'address', address: `${host.address}%${host.zone}` },
    port,
    serverName: undefined,
    source:
      source === undefined
        ? undefined
        : {
            address: source.address,
            port: source.port === 0 ? undefined : source.port,
            device: source.interface,
          },
  };
}

function toSourcePorts(ports: UpstreamsPlan['sourcePorts']): SourcePorts {
  if (ports.kind === 'fixed') return ports;
  const { least, most } = ports;
  if (least === ALL_PORTS.least && most === ALL_PORTS.most) return { kind: 'any' };
  return { kind: 'range', least, most };
}
