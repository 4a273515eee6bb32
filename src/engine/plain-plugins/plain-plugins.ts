/**
 * How the plugins of our own front ends are made from their options.
 */
import type { Handler } from '../../chain/handler.ts';
import { NO_QUESTIONS } from '../../chain/match.ts';
import type { IdentityOptions, PlainPluginOptions } from '../../config/server/plain-plugins.ts';
import type { PluginPlan } from '../../config/server/plugin-plan.ts';
import type { MakePlugin, Plugin, PluginContext } from '../../contract/plugin.ts';
import { createAliasFollower } from '../../plugins/aliases/alias.ts';
import { createAnyHandler } from '../../plugins/any-type/any.ts';
import { createForwardLimit } from '../../plugins/forward-limit/forward-limit.ts';
import { createChaosHandler } from '../../plugins/identity/chaos.ts';
import { createLocalNameHandler } from '../../plugins/local-name/local-name.ts';
import { metaTypesHandler } from '../../plugins/meta-types/meta-types.ts';
import { createTypeFilter } from '../../resolver/filtered-types.ts';
import { CLASS, type Question, TYPE } from '../../wire/types.ts';
import type { PluginMaker } from '../server-blocks/plugin-maker.ts';
import { ClusterZone, isOfCluster } from './cluster-zone.ts';
import { FederationZones } from './federations.ts';
import { identityOf } from './identity.ts';
import { LocalNames } from './local-names.ts';
import { Resolving } from './resolving.ts';
import { describeServers } from './server-statistics.ts';
import { StubZones } from './stub-zones.ts';

/** Loaded where a plan has it. */
type LargePlugin = 'etcd-zones';

const PLUGINS: {
  readonly [Name in Exclude<keyof PlainPluginOptions, LargePlugin>]: MakePlugin<PlainPluginOptions[Name]>;
} = {
  probes: (_, { find }) => ({
    handler: createProbesHandler((question) => find(Resolving)?.isOwnProbe(question) === true),
  }),
  identity: (options, context) => ({ handler: createIdentityHandler(options, context) }),
  'meta-types': () => ({ handler: metaTypesHandler }),
  'any-type': ({ policy }, context) => ({ handler: createAnyHandler(policy, isOfCluster(context)) }),
  'filtered-types': ({ types }, context) => ({ handler: createTypeFilter(types, isOfCluster(context)) }),
  aliases: (_, { log, clock }) => ({ handler: createAliasFollower(log, clock) }),
  'local-names': (options, context, former) => new LocalNames(options, context, ofKind(LocalNames, former)),
  'stub-zones': (options, context) => new StubZones(options, context),
  federations: (options, context, former) =>
    new FederationZones(options, context, ofKind(FederationZones, former)),
  'cluster-zone': (options, context, former) =>
    new ClusterZone(options, context, ofKind(ClusterZone, former)),
  'hosts-nodata': (_, { find }) => ({ handler: localHandler(find, ({ denyRefused }) => denyRefused) }),
  'question-rules': (_, { find }) => ({ handler: localHandler(find, ({ questionRules }) => questionRules) }),
  'local-name': (options) => ({ handler: createLocalNameHandler(options) }),
  'forward-limit': ({ minLabels }) => ({ handler: createForwardLimit(minLabels) }),
  resolver: (options, context, former) => new Resolving(options, context, ofKind(Resolving, former)),
};

/** Etcd's client has much code of its own. */
let makeEtcdZones: MakePlugin<unknown> | undefined;

// The table pairs each name with its own options.
const MAKERS = new Map(Object.entries(PLUGINS) as [string, MakePlugin<unknown>][]);

export const plainPlugins: PluginMaker = {
  async load(names) {
    if (makeEtcdZones !== undefined || ![...names].includes('etcd-zones')) return;
    const { EtcdZones } = await import('./etcd-zones.ts');
    const make: MakePlugin<PlainPluginOptions['etcd-zones']> = (options, context, former) =>
      new EtcdZones(options, context, ofKind(EtcdZones, former));
    makeEtcdZones = make as MakePlugin<unknown>;
  },
  make({ name, options }: PluginPlan, context, former) {
    const make = name === 'etcd-zones' ? makeEtcdZones : MAKERS.get(name);
    if (make === undefined) throw new TypeError(`plugin ${name} is not loaded`);
    return make(options, context, former);
  },
  outlivesPlans: () => true,
};

export function isPlainPlugin(name: string): boolean {
  return name === 'etcd-zones' || MAKERS.has(name);
}

type Kind<Made extends Plugin> = abstract new (...parts: never[]) => Made;

function ofKind<Made extends Plugin>(kind: Kind<Made>, former: Plugin | undefined): Made | undefined {
  return former instanceof kind ? former : undefined;
}

function localHandler(
  find: PluginContext['find'],
  choose: (local: LocalNames['handlers']) => Handler,
): Handler | undefined {
  const local = find(LocalNames);
  return local && choose(local.handlers);
}

/** Drops our own probes: a server that we asked has sent them back. */
function createProbesHandler(isOwnProbe: (question: Question) => boolean): Handler {
  return {
    name: 'loop',
    role: 'other',
    answers: 'unchanged',
    questions: {
      includes: (name, type) => type === TYPE.TXT && isOwnProbe({ name, type, class: CLASS.IN }),
      // Probes ask for random names below stub zones and the root: none of them is ever published.
      matches: () => NO_QUESTIONS.matches(),
    },
    handle: (query, next) => (isOwnProbe(query.question) ? { kind: 'drop' } : next(query)),
  };
}

function createIdentityHandler(
  { identifies, ttl, cacheSize }: IdentityOptions,
  { find, table, version }: PluginContext,
): Handler {
  const stats = () => {
    const { insertions, evictions } = table.statistics();
    const resolving = find(Resolving);
    const { cachingResolver, forward } = resolving?.resolver.stats() ?? {};
    return {
      ...{ cacheSize, insertions, evictions },
      misses: cachingResolver?.misses ?? 0,
      hits: resolving?.countHits() ?? 0,
      servers: describeServers(forward?.upstreams ?? []),
    };
  };
  return createChaosHandler({ identifies, ...identityOf(version), ttl, stats });
}
