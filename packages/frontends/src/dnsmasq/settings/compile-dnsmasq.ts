/**
 * Compiles the plan of dnsmasq's options, with the current contents of the files that it follows, to the plan of a server.
 */
import type { Interfaces } from '@portolan/kernel/listen/local-addresses.ts';
import { DEFAULT_QUERY_TIMEOUTS } from '@portolan/kernel/listen/query-timeouts.ts';
import { computeCacheOctets } from '@portolan/kernel/plan/cache-octets.ts';
import type { EnginePlan } from '@portolan/kernel/plan/engine-plan.ts';
import type { ListenerGroupPlan } from '@portolan/kernel/plan/server-blocks-plan.ts';
import type { LocalNamesOptions } from '@portolan/plugins/local-names/options.ts';
import { makeClientsPlan } from '@portolan/server/plan/clients-plan.ts';
import {
  writeFirstPlugins,
  writeLastPlugins,
  writeLocalNames,
  writeNftset,
  writePlainEngine,
  writePlainListeners,
} from '@portolan/server/plan/plain-block.ts';
import type { ServerPlan } from '@portolan/server/plan/server-plan.ts';
import { makeCacheRules } from './caching-rules.ts';
import type { DnsmasqPlan } from './dnsmasq-plan.ts';
import { DNSMASQ_TIMEOUT, type DnsmasqInputs, makeForwardPlan } from './forward-plan.ts';
import { makeLocalSettings } from './local-settings.ts';

/** Properties of the machine. */
export interface DnsmasqMachine {
  readonly interfaces: Interfaces;
  /** Threads that answer UDP. */
  readonly udpReaders: number;
}

export function compileDnsmasq(
  plan: DnsmasqPlan,
  changing: DnsmasqInputs,
  { interfaces, udpReaders }: DnsmasqMachine,
): ServerPlan {
  return {
    engine: compileEngine(plan, changing, interfaces),
    listen: {
      groups: [compileListeners(plan.listen, udpReaders)],
      interfaces: plan.listen,
      // dnsmasq passes on replies until then, for clients that wait longer than most.
      timeouts: { ...DEFAULT_QUERY_TIMEOUTS, discard: DNSMASQ_TIMEOUT },
    },
    udpReaders: udpReaders > 1 ? 0 : 1,
    takeover: false,
    objects: undefined,
    queryLines: 'server',
    queryLog: plan.process.queryLog,
    http: undefined,
    endpoints: [],
    lameduck: 0,
    keepsStatistics: plan.process.keepsStatistics,
    history: plan.process.history,
  };
}

/** All threads start at once: a process that drops root cannot open sockets on these ports later. */
function compileListeners(
  { port, maxTcpConnections }: DnsmasqPlan['listen'],
  readers: number,
): ListenerGroupPlan {
  const tcp = { connections: maxTcpConnections, connectionsPerClient: maxTcpConnections };
  return writePlainListeners({ port, tcp, readers });
}

function compileEngine(plan: DnsmasqPlan, changing: DnsmasqInputs, interfaces: Interfaces): EnginePlan {
  const { cache, local, listen, filters } = plan;
  const clients = makeClientsPlan(interfaces, {
    servesOnlyNetworks: listen.localService,
    localises: local.localisesQueries,
  });
  const rules = makeCacheRules(cache);
  const forward = makeForwardPlan(plan, changing);
  return writePlainEngine({
    clients,
    plugins: [
      ...writeNftset(plan.nftset),
      ...writeFirstPlugins(
        { identifies: local.identifies, ttl: local.ttl, cacheSize: cache.size },
        changing.extra,
      ),
      writeLocalNames(compileLocal(plan, changing, interfaces), clients),
      ...writeLastPlugins({ cache: rules, forward, filteredTypes: new Set(filters.types) }),
    ],
    responses: { recursionAvailable: true, rotatesAddresses: cache.rotatesAddresses, domain: undefined },
    cache: { octets: computeCacheOctets(cache.size), entries: cache.size, maxTtl: rules.maxTtl },
    udpSize: listen.ednsPacketMax,
  });
}

function compileLocal(
  plan: DnsmasqPlan,
  { moreRoutes }: DnsmasqInputs,
  interfaces: Interfaces,
): LocalNamesOptions['settings'] {
  const settings = makeLocalSettings(plan, interfaces);
  const { questions } = settings;
  // The list can be very long: pass the same array if possible, since a new array means that its rules are compiled again.
  const routes = moreRoutes.length === 0 ? questions.routes : [...questions.routes, ...moreRoutes];
  return { ...settings, questions: { ...questions, routes } };
}
