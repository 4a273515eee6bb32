/**
 * Compiles the server blocks of a Corefile to the plan of a server.
 */

import { availableParallelism } from 'node:os';
import type { ServerKey } from '@portolan/corefile/keys/server-key.ts';
import { DEFAULT_LOSS_RULE, type LossRule } from '@portolan/kernel/base/losses.ts';
import { formatSocketAddress } from '@portolan/kernel/base/socket-address.ts';
import { toCoreDnsForm } from '@portolan/kernel/chain/response-form.ts';
import { NOTHING_RESTORED, type RestoredDeviations } from '@portolan/kernel/deviations/table.ts';
import type { ClientRules } from '@portolan/kernel/listen/client-rules.ts';
import type { ProxyProtocolPlan } from '@portolan/kernel/listen/proxy-protocol/proxy-policy.ts';
import { DEFAULT_QUERY_TIMEOUTS } from '@portolan/kernel/listen/query-timeouts.ts';
import { computeCacheOctets } from '@portolan/kernel/plan/cache-octets.ts';
import type { EnginePlan } from '@portolan/kernel/plan/engine-plan.ts';
import type {
  ListenerGroupPlan,
  ServerBlockPlan,
  SitePlan,
  TcpPlan,
} from '@portolan/kernel/plan/server-blocks-plan.ts';
import { computeEntries } from '@portolan/plugins/cache/options.ts';
import type { MultisocketOptions } from '@portolan/plugins/multisocket/options.ts';
import type { PrometheusOptions } from '@portolan/plugins/prometheus/options.ts';
import type { HistoryPlan } from '@portolan/server/plan/history-plan.ts';
import type { QueryLogPlan } from '@portolan/server/plan/query-log-plan.ts';
import type { EndpointPlan, ServerPlan } from '@portolan/server/plan/server-plan.ts';
import { countCores, readersFor } from '@portolan/server/settings/cores.ts';
import { readHistoryWords } from '@portolan/server/settings/history/read-history.ts';
import { readLossWords } from '@portolan/server/settings/losses/read-losses.ts';
import { readQueryLogWords } from '@portolan/server/settings/query-log/read-settings.ts';
import { ValueReader } from '@portolan/server/settings/values/value-reader.ts';
import { findOptions } from '../../plugins/registry.ts';
import { placeFeatures } from './place-features.ts';
import type { ServerBlock } from './read-corefile.ts';

/** Milliseconds: `forward` of CoreDNS tries servers for 5 s, and waits 2 s for the reply of the last one. */
const LAST_REPLY_OF_COREDNS = 7_000;

export interface CompileSettings {
  /** Whether to join ports that another process serves. */
  readonly takeover: boolean;
  /** The deviations in which the server does as CoreDNS does. */
  readonly restored: RestoredDeviations;
  /** The query log unless the Corefile has one; undefined: none. */
  readonly queryLog: QueryLogPlan | undefined;
  /** Until when after the stop signal to answer on while queries arrive, if the Corefile says nothing: milliseconds. */
  readonly drain: number;
}

/** For listener groups that a changed Corefile adds. */
const SPARE_READERS = 4;

/** @param blocks from a Corefile without problems */
export function compileCorefile(
  blocks: readonly ServerBlock[],
  { takeover = false, restored = NOTHING_RESTORED, queryLog, drain = 0 }: Partial<CompileSettings> = {},
): ServerPlan {
  const groups = groupListeners(blocks);
  const lameduck = Math.max(0, ...blocks.map((block) => findOptions(block, 'health')?.lameduck ?? 0));
  return {
    engine: compileEngine(blocks, groups, restored),
    listen: { groups, timeouts: { ...DEFAULT_QUERY_TIMEOUTS, discard: LAST_REPLY_OF_COREDNS } },
    udpReaders: readersFor(countCores()),
    takeover,
    objects: undefined,
    spareReaders: SPARE_READERS,
    queryLines: 'plugins',
    queryLog: ownQueryLog(blocks) ?? queryLog,
    http: undefined,
    endpoints: blocks.flatMap(listEndpoints),
    lameduck,
    drain: findDrain(blocks) ?? (lameduck === 0 ? 0 : drain),
    keepsStatistics: blocks.some((block) => findOptions(block, 'portolan')?.stats === true),
    history: findHistory(blocks),
  };
}

/** The longest of all blocks; undefined: none names one. */
function findDrain(blocks: readonly ServerBlock[]): number | undefined {
  const times = blocks.flatMap((block) => findOptions(block, 'portolan')?.drain ?? []);
  return times.length === 0 ? undefined : Math.max(...times);
}

/** At most one block has one, and its words were read without problems. */
function ownQueryLog(blocks: readonly ServerBlock[]): QueryLogPlan | undefined {
  const [words] = blocks.flatMap((block) => {
    const own = findOptions(block, 'portolan')?.queryLog;
    return own === undefined ? [] : [own];
  });
  return words && readQueryLogWords(new ValueReader(), words, 'text');
}

/** At most one block has a rule, and its words were read without problems. */
function findLossRule(blocks: readonly ServerBlock[], restored: RestoredDeviations): LossRule | undefined {
  if (restored.has('sudden-loss')) return undefined;
  const [words] = blocks.flatMap((block) => {
    const own = findOptions(block, 'portolan')?.suddenLoss;
    return own === undefined ? [] : [own];
  });
  return words === undefined ? DEFAULT_LOSS_RULE : readLossWords(new ValueReader(), 'settings', words);
}

/** The same for what is remembered. */
function findHistory(blocks: readonly ServerBlock[]): HistoryPlan | undefined {
  const [words = []] = blocks.flatMap((block) => {
    const own = findOptions(block, 'portolan')?.history;
    return own === undefined ? [] : [own];
  });
  return readHistoryWords(new ValueReader(), words);
}

function listEndpoints(block: ServerBlock): readonly EndpointPlan[] {
  const health = findOptions(block, 'health');
  const ready = findOptions(block, 'ready');
  const metrics = findOptions(block, 'prometheus');
  const profile = findOptions(block, 'pprof');
  const goesBack = ready?.monitor === 'continuously';
  return [
    ...(ready === undefined ? [] : [{ kind: 'ready', address: ready.address, goesBack } as const]),
    ...(health === undefined ? [] : [{ kind: 'health', address: health.address, goesBack } as const]),
    ...(profile === undefined ? [] : [{ kind: 'profile', address: profile.address, goesBack } as const]),
    ...(metrics === undefined ? [] : [metricsEndpoint(metrics)]),
  ];
}

function metricsEndpoint({ address, tlsConfiguration: webConfiguration }: PrometheusOptions): EndpointPlan {
  const plan = { kind: 'metrics', address, goesBack: false } as const;
  return webConfiguration === undefined ? plan : { ...plan, webConfiguration };
}

function compileEngine(
  blocks: readonly ServerBlock[],
  groups: readonly ListenerGroupPlan[],
  restored: RestoredDeviations,
): EnginePlan {
  return {
    restored,
    blocks: blocks.map((block) => ({
      zones: [...new Set(block.keys.map(({ zone }) => zone))],
      ...viewNameIn(block),
      plugins: placeFeatures(block, groups),
    })),
    groups,
    responses: {
      form: toCoreDnsForm(restored.has('extended-errors') ? 'none' : 'all'),
      rotatesAddresses: 'as-handlers-say',
      counting: { by: 'site' },
    },
    cache: { octets: computeCacheOctets(countAnswers(blocks)), entries: Number.POSITIVE_INFINITY },
    udpSize: 4096,
    losses: findLossRule(blocks, restored),
  };
}

/** The answers that all caches together keep, those of blocks that share a zone included. */
function countAnswers(blocks: readonly ServerBlock[]): number {
  const numbers = blocks.flatMap((block) => {
    const rules = findOptions(block, 'cache');
    return rules?.kind === 'coredns' ? [computeEntries(rules.success), computeEntries(rules.denial)] : [];
  });
  return numbers.reduce((sum, number) => sum + number, 0);
}

function viewNameIn(block: ServerBlock): Pick<ServerBlockPlan, 'view'> {
  const view = findOptions(block, 'view');
  return view === undefined ? {} : { view: view.name };
}

/** Makes one group per scheme, address and port; the first block of a group determines its socket settings. */
function groupListeners(blocks: readonly ServerBlock[]): readonly ListenerGroupPlan[] {
  const groups = new Map<string, Omit<ListenerGroupPlan, 'sites'> & { readonly sites: SitePlan[] }>();
  blocks.forEach((block, index) => {
    const seen = new Set<string>();
    for (const key of block.keys)
      for (const address of findOptions(block, 'bind')?.addresses ?? ['']) {
        const server = formatServer(key, address);
        const before = groups.get(server);
        const clients = joinRules(before?.clients, findOptions(block, 'portolan')?.clients);
        const opened = before ?? { ...createListenerGroup(block, key, address), sites: [] };
        const tls = opened.tls ?? findTls(block, key);
        const proxies = joinProxies(before?.proxies, findOptions(block, 'proxyproto'));
        const countsDrops = before?.countsDrops === true || hasShed(block);
        const isAsBefore =
          opened === before &&
          tls === before.tls &&
          clients === before.clients &&
          proxies === before.proxies &&
          countsDrops === (before.countsDrops ?? false);
        const group = isAsBefore
          ? before
          : { ...opened, tls, proxies, ...(clients && { clients }), ...(countsDrops && { countsDrops }) };
        groups.set(server, group);
        const { zone } = key;
        const site = `${server} ${zone}`;
        if (!seen.has(site)) group.sites.push({ zone, block: index });
        seen.add(site);
      }
  });
  return [...groups.values()];
}

function formatServer({ scheme, port }: ServerKey, address: string): string {
  return `${scheme}://${formatSocketAddress({ address, port })}`;
}

function findTls(block: ServerBlock, { scheme }: ServerKey): ListenerGroupPlan['tls'] {
  return scheme === 'dns' ? undefined : findOptions(block, 'tls');
}

function createListenerGroup(
  block: ServerBlock,
  key: ServerKey,
  address: string,
): Omit<ListenerGroupPlan, 'sites'> {
  const { scheme, port } = key;
  const { idle, read, write, maxTcpQueries: queries } = findOptions(block, 'timeouts') ?? {};
  return {
    server: formatServer(key, address),
    // Keys with other schemes are problems.
    scheme: scheme === 'tls' || scheme === 'https' || scheme === 'grpc' ? scheme : 'dns',
    address,
    port,
    tcp: {
      idle,
      read,
      write,
      queries,
      ...(scheme === 'https' && findHttpsLimits(block)),
      ...(scheme === 'grpc' && findGrpcLimits(block)),
    },
    tls: findTls(block, key),
    readers: scheme === 'dns' ? countReaders(findOptions(block, 'multisocket')) : 1,
  };
}

type ListenerLimits = Pick<TcpPlan, 'connections' | 'owed'>;

/** Of a listener for HTTPS or gRPC. */
const MAX_CONNECTIONS = 200;
const MAX_GRPC_STREAMS = 256;
/** In place of no bound. */
const MOST_GRPC_STREAMS = 1000;

function findHttpsLimits(block: ServerBlock): ListenerLimits {
  return limitConnections(findOptions(block, 'https')?.maxConnections);
}

function findGrpcLimits(block: ServerBlock): ListenerLimits {
  const { maxStreams = MAX_GRPC_STREAMS, maxConnections } = findOptions(block, 'grpc_server') ?? {};
  return { ...limitConnections(maxConnections), owed: maxStreams === 0 ? MOST_GRPC_STREAMS : maxStreams };
}

/** @param connections 0: as many as over TCP */
function limitConnections(connections = MAX_CONNECTIONS): ListenerLimits {
  return connections === 0 ? {} : { connections };
}

function hasShed({ plugins }: ServerBlock): boolean {
  return plugins.some(({ name }) => name === 'shed');
}

/** As in CoreDNS, the last block of an address and port has a say on all of it; sessions stay if it does not name them. */
function joinProxies(
  before: ProxyProtocolPlan | undefined,
  own: ProxyProtocolPlan | undefined,
): ProxyProtocolPlan | undefined {
  if (before === undefined || own === undefined) return own ?? before;
  return { ...own, sessions: own.sessions ?? before.sessions };
}

/** Blocks with the same address and port have their rules together. */
function joinRules(one: ClientRules | undefined, other: ClientRules | undefined): ClientRules | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return {
    ...one,
    access: [...one.access, ...other.access],
    queryRate: one.queryRate ?? other.queryRate,
    responseRate: one.responseRate ?? other.responseRate,
  };
}

/** For `multisocket`; more threads than processors do not answer faster. */
function countReaders(multisocket: MultisocketOptions | undefined): number {
  if (multisocket === undefined) return 1;
  const processors = availableParallelism();
  return Math.min(multisocket.sockets ?? processors, processors);
}
