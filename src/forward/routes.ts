/**
 * A plan made ready to use: for every rule the upstream servers that stand behind it, each server once however many rules
 * name it, and kept with all that is known of it when the plan changes.
 */

import { ROOT } from '../wire/name.ts';
import type { AbsoluteName, NameKey } from '../wire/types.ts';
import { CandidateOrder } from './candidates.ts';
import { NameRules, pairsOf } from './name-rules.ts';
import type { ForwardPlan, ForwardRule, UpstreamServer } from './plan.ts';
import type { Upstream } from './upstream/upstream.ts';
import { formatUpstream } from './upstream-address.ts';

/** Where a name goes. */
export type Route = { readonly kind: 'local-only' } | ServersRoute;

export interface ServersRoute {
  readonly kind: 'servers';
  readonly upstreams: readonly Upstream[];
  readonly order: CandidateOrder;
}

export interface RouteSources {
  /** Makes an upstream. @param address its address as text @param domain one that it is asked for */
  open(server: UpstreamServer, address: string, domain: NameKey, plan: ForwardPlan): Upstream;
  /** The addresses that a server's name is known to have. */
  addressesOf(name: AbsoluteName): readonly string[];
  readonly random: () => number;
}

export interface Routes {
  readonly rules: NameRules<Route>;
  /** By what makes them the same server. */
  readonly upstreams: ReadonlyMap<string, Upstream>;
  /** Servers that are given by name. */
  readonly names: ReadonlySet<AbsoluteName>;
}

/** @param before the upstreams of the routes before, to be taken over where they are the same */
export function buildRoutes(
  plan: ForwardPlan,
  before: ReadonlyMap<string, Upstream>,
  sources: RouteSources,
): Routes {
  const upstreams = new Map<string, Upstream>();
  const names = new Set<AbsoluteName>();
  const upstreamsOf = (server: UpstreamServer, domain: NameKey): readonly Upstream[] => {
    const { host } = server.address;
    if (host.kind === 'name') names.add(host.name);
    const addresses = host.kind === 'name' ? sources.addressesOf(host.name) : [host.address];
    return addresses.map((address) => {
      const key = identityOf(server, address, plan);
      const upstream = upstreams.get(key) ?? before.get(key) ?? sources.open(server, address, domain, plan);
      upstreams.set(key, upstream);
      return upstream;
    });
  };
  const compile = (rule: ForwardRule): Route => {
    const { target } = rule;
    if (target.kind === 'local-only') return { kind: 'local-only' };
    if (target.kind === 'default') return defaultRoute();
    const domain = domainOf(rule);
    const found = new Set(target.servers.flatMap((server) => upstreamsOf(server, domain)));
    return { kind: 'servers', upstreams: [...found], order: new CandidateOrder(plan.policy, sources.random) };
  };
  let root: Route | undefined;
  const defaultRoute = (): Route => {
    const rule = plan.rules.findLast(isRootRule);
    root ??= rule === undefined || rule.target.kind === 'default' ? NO_SERVERS : compile(rule);
    return root;
  };
  const rules = new NameRules(pairsOf(plan.rules, compile));
  return { rules, upstreams, names };
}

const NO_SERVERS: Route = {
  kind: 'servers',
  upstreams: [],
  order: new CandidateOrder('sequential', () => 0),
};

function isRootRule({ names }: ForwardRule): boolean {
  return names.some((match) => match.kind === 'domain' && match.name === ROOT);
}

function domainOf({ names }: ForwardRule): NameKey {
  for (const match of names) if (match.kind === 'domain') return match.name;
  return ROOT;
}

/** Equal for servers that may share sockets and what is known of them. */
function identityOf({ address, queriesPerSecond }: UpstreamServer, at: string, plan: ForwardPlan): string {
  return JSON.stringify([
    ...[formatUpstream(address), at, queriesPerSecond],
    ...[plan.sourcePorts, plan.udpSize, plan.ignoredAddresses, plan.tls, plan.timing],
  ]);
}
