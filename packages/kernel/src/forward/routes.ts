/**
 * The routes of a plan: the group of upstream servers for every rule. Rules with the same server or group share it.
 * When the plan changes, servers and groups in both plans are kept with their state.
 */
import { ROOT } from '@portolan/dns/name.ts';
import type { AbsoluteName, NameKey } from '@portolan/dns/types.ts';
import { CandidateOrder, isSilent } from './candidates.ts';
import type { ForwardPlan, ForwardRule, UpstreamServer } from './forward-plan.ts';
import { listMatchPairs, NameRules } from './name-rules.ts';
import type { GroupQuestion, ServerGroup } from './server-group.ts';
import type { Upstream } from './upstream/upstream.ts';
import { formatUpstream } from './upstream-address.ts';

/** The route of a name. */
export type Route<Question extends GroupQuestion> = { readonly kind: 'local-only' } | ServersRoute<Question>;

export interface ServersRoute<Question extends GroupQuestion> {
  readonly kind: 'servers';
  readonly upstreams: readonly Upstream[];
  readonly order: CandidateOrder;
  readonly group: ServerGroup<Question>;
}

export interface RouteSources<Question extends GroupQuestion> {
  /** Makes an upstream. @param address its address as text @param domain one that it handles */
  open(server: UpstreamServer, address: string, domain: NameKey, plan: ForwardPlan): Upstream;
  /** The known addresses of a server's name. */
  findAddresses(name: AbsoluteName): readonly string[];
  openGroup(): ServerGroup<Question>;
  readonly random: () => number;
}

export interface Routes<Question extends GroupQuestion> {
  readonly rules: NameRules<Route<Question>>;
  /** By their identity. */
  readonly upstreams: ReadonlyMap<string, Upstream>;
  readonly groups: ReadonlyMap<string, ServerGroup<Question>>;
  /** Servers that are given by name. */
  readonly names: ReadonlySet<AbsoluteName>;
}

/** @param before the previous routes, whose equal upstreams and groups are reused */
export function buildRoutes<Question extends GroupQuestion>(
  plan: ForwardPlan,
  before: Pick<Routes<Question>, 'upstreams' | 'groups'>,
  sources: RouteSources<Question>,
): Routes<Question> {
  const upstreams = new Map<string, Upstream>();
  const groups = new Map<string, ServerGroup<Question>>();
  const names = new Set<AbsoluteName>();
  const findUpstreams = (server: UpstreamServer, domain: NameKey): readonly Upstream[] => {
    const { host } = server.address;
    if (host.kind === 'name') names.add(host.name);
    const addresses = host.kind === 'name' ? sources.findAddresses(host.name) : [host.address];
    return addresses.map((address) => {
      const key = toIdentity(server, address, plan);
      const upstream =
        upstreams.get(key) ?? before.upstreams.get(key) ?? sources.open(server, address, domain, plan);
      upstreams.set(key, upstream);
      return upstream;
    });
  };
  const getOrCreateGroup = (servers: readonly UpstreamServer[]): ServerGroup<Question> => {
    const key = servers.map(({ address }) => formatUpstream(address)).join(' ');
    const group = groups.get(key) ?? before.groups.get(key) ?? sources.openGroup();
    groups.set(key, group);
    return group;
  };
  const compile = (rule: ForwardRule): Route<Question> => {
    const { target } = rule;
    if (target.kind === 'local-only') return { kind: 'local-only' };
    if (target.kind === 'default') return defaultRoute();
    const domain = findDomain(rule);
    const found = new Set(target.servers.flatMap((server) => findUpstreams(server, domain)));
    const order = new CandidateOrder(plan.policy, sources.random, plan.health.kind === 'checks');
    return { kind: 'servers', upstreams: [...found], order, group: getOrCreateGroup(target.servers) };
  };
  let root: Route<Question> | undefined;
  const noServers = (): Route<Question> => ({
    kind: 'servers',
    upstreams: [],
    order: new CandidateOrder('sequential', sources.random),
    group: getOrCreateGroup([]),
  });
  const defaultRoute = (): Route<Question> => {
    const rule = plan.rules.findLast(isRootRule);
    root ??= rule === undefined || rule.target.kind === 'default' ? noServers() : compile(rule);
    return root;
  };
  const rules = new NameRules(listMatchPairs(plan.rules, compile));
  return { rules, upstreams, groups, names };
}

function isRootRule({ names }: ForwardRule): boolean {
  return names.some((match) => match.kind === 'domain' && match.name === ROOT);
}

function findDomain({ names }: ForwardRule): NameKey {
  for (const match of names) if (match.kind === 'domain') return match.name;
  return ROOT;
}

/** The identity of a server: servers with the same one may share sockets and state. */
function toIdentity({ address, queriesPerSecond }: UpstreamServer, at: string, plan: ForwardPlan): string {
  return JSON.stringify([
    formatUpstream(address),
    at,
    queriesPerSecond,
    plan.sourcePorts,
    plan.mixesCase,
    plan.udpSize,
    plan.maxUdpReply,
    plan.ignoredAddresses,
    plan.streams,
    plan.fallsBackToUdp,
    plan.tls,
    plan.httpsMethod,
    plan.timing,
    plan.health,
  ]);
}

/** Whether all servers of a route are down. */
export function isAllDown<Question extends GroupQuestion>({ upstreams }: ServersRoute<Question>): boolean {
  return upstreams.every(({ isDown }) => isDown);
}

/** Whether all servers of a route have been silent lately, though one may only be slow. */
export function isAllSilent<Question extends GroupQuestion>({ upstreams }: ServersRoute<Question>): boolean {
  return upstreams.every(isSilent);
}
