/**
 * The only place that opens sockets for clients. Each group of listeners has TCP listeners. Reader threads, at first one, serve the
 * UDP sockets of all groups; a group may have reader threads of its own. Our own front ends have one group.
 */

import { randomInt } from 'node:crypto';
import { networkInterfaces } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Log, LogFields } from '@portolan/kernel/base/log.ts';
import { formatSocketAddress } from '@portolan/kernel/base/socket-address.ts';
import type { HandleQuery } from '@portolan/kernel/chain/query.ts';
import type { Engine } from '@portolan/kernel/engine/engine.ts';
import {
  type ClientRules,
  type SharedClientRules,
  shareClientRules,
} from '@portolan/kernel/listen/client-rules.ts';
import { listenByDatagrams } from '@portolan/kernel/listen/datagram.ts';
import { GroupReader } from '@portolan/kernel/listen/group-reader.ts';
import { LargeAnswers } from '@portolan/kernel/listen/large-answers.ts';
import { sumTcpCounts, sumUdpCounts } from '@portolan/kernel/listen/listener-counts.ts';
import { addressesToBind, type Interfaces } from '@portolan/kernel/listen/local-addresses.ts';
import type { ProxyProtocolPlan } from '@portolan/kernel/listen/proxy-protocol/proxy-policy.ts';
import type { QueryEventRings } from '@portolan/kernel/listen/query-events/event-rings.ts';
import type { QueryTimeouts } from '@portolan/kernel/listen/query-timeouts.ts';
import { haveSameRates, type RatedZone } from '@portolan/kernel/listen/rated-zones.ts';
import {
  listenOnTcp,
  type StreamProtocol,
  type TcpCounts,
  type TcpLimits,
  type TcpListener,
} from '@portolan/kernel/listen/tcp.ts';
import type { ListenAddress, ReaderForwarding } from '@portolan/kernel/listen/types.ts';
import { listenByBatches } from '@portolan/kernel/listen/udp.ts';
import type { UdpCounts, UdpListener } from '@portolan/kernel/listen/udp-listener.ts';
import type { StartThread } from '@portolan/kernel/listen/udp-reader.ts';
import type { ListenerGroupPlan } from '@portolan/kernel/plan/server-blocks-plan.ts';
import { batchesWork } from '@portolan/kernel/socket/batch-probe.ts';
import type { CorefileLogRings } from './corefile-log-rings.ts';
import { ListenerCertificates } from './listener-certificates.ts';
import type { ServerPlan } from './plan/server-plan.ts';
import { ShedCounts } from './shed-counts.ts';

type AnsweringBlocks = Pick<Engine['serverBlocks'], 'findQueryHandler'>;
/** Blocks with the rates that their plugins state. */
type LimitingBlocks = { readonly limits: Pick<Engine['serverBlocks']['limits'], 'listRatedZones'> };

export interface ListenerGroupsDependencies {
  /** The engine that answers for all groups. */
  readonly engine: Pick<Engine, 'table' | 'reader' | 'getListenerGroupNumber' | 'metrics'> & {
    readonly serverBlocks: AnsweringBlocks & LimitingBlocks;
  };
  /** Whether to join ports that another process serves, instead of refusing to start. */
  readonly takeover: boolean;
  /** The readers that the table has slots for, beside the main thread. */
  readonly readers: number;
  /** How many of these may serve all groups. */
  readonly commonReaders: number;
  readonly startReader: StartThread;
  /** The UDP size in our OPT records, and the limit of UDP responses, in octets. */
  readonly udpSize: number;
  /** Whether clients over UDP get as much as they offer, beyond `udpSize` (`-compat`). */
  readonly givesOfferedSize: boolean;
  /** Milliseconds that a shared reader waits for more packets after it receives a single one. Default: 0. */
  readonly udpCoalesce?: number | undefined;
  /** How long clients wait for answers. Default: `DEFAULT_QUERY_TIMEOUTS`. */
  readonly timeouts?: QueryTimeouts | undefined;
  /** Lets readers forward questions by themselves. */
  readonly forwarding: ReaderForwarding | undefined;
  /** Changes how queries are answered on the main thread. Default: not at all. */
  readonly wrap?: (handleQuery: HandleQuery) => HandleQuery;
  /** Where the main thread writes the events of answered queries, and readers of groups without rings of their own. */
  readonly events: QueryEventRings;
  /** Gives each group rings of its own. Default: they have those of `events`. */
  readonly groupEvents?: CorefileLogRings | undefined;
  readonly log: Log;
  /** Lines about sockets and threads. */
  readonly socketLog: Log;
  readonly clock: Clock;
}

interface OpenGroup {
  plan: ListenerGroupPlan;
  addresses: readonly ListenAddress[];
  readonly tcp: TcpListener[];
  /** The group's own listeners. */
  readonly udp: UdpListener[];
  /** Whether the shared readers serve its addresses. */
  readonly isShared: boolean;
  /** The consecutive numbers of its dedicated readers. */
  readonly readers: readonly number[];
}

/** What a group has before it listens. */
interface ListeningPlace {
  /** The numbers of its own readers. */
  readonly readers: readonly number[];
  /** Of the machine. */
  readonly interfaces: Interfaces;
}

/** How long pending answers may take when a group is closed. */
const GRACE_MILLISECONDS = 2_000;

export class ListenerGroups {
  readonly #dependencies: ListenerGroupsDependencies;
  readonly #open = new Map<string, OpenGroup>();
  /** Undefined: this platform has no batches. */
  readonly #reader: GroupReader | undefined;
  /** Unused reader numbers, ascending. */
  #free: readonly number[];
  readonly #largeAnswers = new WeakMap<ListenerGroupPlan, LargeAnswers>();
  readonly #certificates: ListenerCertificates<TcpListener>;
  readonly #shedCounts: ShedCounts;
  /** Counts of listeners that are closed. */
  #endedTcp: readonly TcpCounts[] = [];
  /** The former blocks of groups whose sockets are closing. */
  #former: AnsweringBlocks | undefined;

  constructor(dependencies: ListenerGroupsDependencies) {
    this.#dependencies = dependencies;
    const { clock, log } = dependencies;
    this.#certificates = new ListenerCertificates(clock, log);
    this.#shedCounts = new ShedCounts(dependencies.engine.metrics);
    const { readers, commonReaders } = dependencies;
    // Lower numbers belong to the shared readers.
    this.#free = Array.from({ length: readers - commonReaders }, (_, index) => commonReaders + index);
    const batches = batchesWork();
    if (batches === true) this.#reader = this.#makeReader();
    else this.#warnOfDatagrams(batches);
  }

  /** The addresses served over UDP: `127.0.0.1:53`. */
  get addresses(): readonly string[] {
    const own = [...this.#open.values()].flatMap(({ udp }) => udp.flatMap(({ endpoints }) => endpoints));
    return [...(this.#reader?.endpoints ?? []), ...own].map(formatSocketAddress);
  }

  udp(): UdpCounts {
    const own = [...this.#open.values()].flatMap(({ udp }) => udp.map((listener) => listener.count()));
    const shared = this.#reader?.count();
    return sumUdpCounts(shared === undefined ? own : [shared, ...own]);
  }

  tcp(): TcpCounts {
    const open = [...this.#open.values()].flatMap(({ tcp }) => tcp.map((listener) => listener.count()));
    return sumTcpCounts([...open, ...this.#endedTcp]);
  }

  #warnOfDatagrams(why: LogFields): void {
    const { log, takeover } = this.#dependencies;
    log.warn('batches of packets not available: serving UDP one packet at a time', why);
    if (takeover) log.warn('--takeover has no effect: ports cannot be shared here', why);
  }

  /**
   * Opens the sockets of all new groups, or of none.
   *
   * @param blocks whose rates hold there. Default: those that answer now
   * @throws PortInUseError, SocketError, AddressError
   */
  async add(
    groups: readonly ListenerGroupPlan[],
    blocks: LimitingBlocks = this.#dependencies.engine.serverBlocks,
  ): Promise<void> {
    const missing = groups.filter(({ server }) => !this.#open.has(server));
    const opened: string[] = [];
    const places = this.#prepare(missing);
    try {
      for (const [group, place] of places) {
        await this.#listen(group, place, blocks);
        opened.push(group.server);
      }
      if (missing.length > 0) await this.#reader?.serve(listSharedAddresses([...this.#open.values()]));
      for (const { server, tls } of groups) this.#certificates.change(server, tls);
    } catch (error) {
      this.#abandon([...places].slice(opened.length));
      await this.#close(opened);
      throw error;
    }
  }

  /** Prepares all at once: with a port for each server block, there are hundreds. */
  #prepare(missing: readonly ListenerGroupPlan[]): ReadonlyMap<ListenerGroupPlan, ListeningPlace> {
    const { groupEvents, commonReaders } = this.#dependencies;
    const interfaces = missing.length === 0 ? {} : networkInterfaces();
    const places = new Map(missing.map((plan) => [plan, { readers: this.#take(plan), interfaces }]));
    if (missing.length > 0)
      groupEvents?.open(
        new Map([...places].map(([{ server }, { readers }]) => [server, readers.length || commonReaders])),
      );
    return places;
  }

  /** Gives back what groups have that were not opened. */
  #abandon(places: readonly (readonly [ListenerGroupPlan, ListeningPlace])[]): void {
    this.#giveBack(places.flatMap(([, { readers }]) => readers));
    this.#dependencies.groupEvents?.close(places.map(([{ server }]) => server));
  }

  /**
   * Opens the sockets of an address that appeared later. The main thread serves its UDP: a process that has dropped root may not
   * open sockets for readers on this port.
   *
   * @throws PortInUseError, SocketError, AddressError
   */
  async openLater(plan: ListenerGroupPlan, address: string): Promise<void> {
    const { server, port, proxies } = plan;
    const clientRules = shareRules(
      plan.clients,
      this.#dependencies.engine.serverBlocks.limits.listRatedZones(server),
    );
    const drops = this.#shedCounts.open(plan);
    const group = this.#getListenerGroupNumber(plan);
    const addresses = [{ address, port, group, clientRules, proxies, drops }];
    const { takeover } = this.#dependencies;
    const tcp = await this.#listenOnTcp(plan, addresses, takeover);
    try {
      const udp = await this.#listenByDatagrams(plan, addresses);
      const opened = this.#open.get(server) ?? {
        plan,
        addresses: [],
        tcp: [],
        udp: [],
        isShared: false,
        readers: [],
      };
      this.#open.set(server, opened);
      opened.tcp.push(tcp);
      opened.udp.push(udp);
    } catch (error) {
      await tcp.stop(0);
      throw error;
    }
  }

  /**
   * Applies the rules for clients and proxies and the limits on connections of another plan, whose blocks answer now, to the open groups.
   * The sockets follow with the next `keepOnly`.
   */
  ruleBy(groups: readonly ListenerGroupPlan[]): void {
    for (const plan of groups) {
      const { server, clients, proxies } = plan;
      const group = this.#open.get(server);
      if (group === undefined) continue;
      for (const listener of group.tcp) listener.limit(toTcpLimits(plan));
      this.#trust(group, proxies);
      const drops = this.#shedCounts.open(plan);
      if (group.addresses[0]?.drops !== drops)
        group.addresses = group.addresses.map((address) => ({ ...address, drops }));
      const zones = this.#dependencies.engine.serverBlocks.limits.listRatedZones(server);
      const former = group.addresses[0]?.clientRules?.zones ?? [];
      if (isDeepStrictEqual(group.plan.clients, clients) && haveSameRates(former, zones)) continue;
      const clientRules = shareRules(clients, zones);
      group.plan = { ...group.plan, clients };
      group.addresses = group.addresses.map((address) => ({ ...address, clientRules }));
      if (group.readers.length > 0)
        this.#dependencies.log.warn(
          `${server} has multisocket: its rules for clients change at the next start`,
        );
    }
  }

  /** Changes whose headers tell the clients of an open group. */
  #trust(group: OpenGroup, proxies: ProxyProtocolPlan | undefined): void {
    const former = group.plan.proxies;
    if (isDeepStrictEqual(former, proxies)) return;
    const { server } = group.plan;
    group.plan = { ...group.plan, proxies };
    group.addresses = group.addresses.map((address) => ({ ...address, proxies }));
    if (group.readers.length > 0 || (former?.sessions === undefined) !== (proxies?.sessions === undefined))
      this.#dependencies.log.warn(`${server}: proxyproto changes for UDP at the next start`);
  }

  /**
   * Closes the sockets of all other groups without losing received queries.
   *
   * @param former the previous blocks, which answer these queries
   */
  async keepOnly(groups: readonly ListenerGroupPlan[], former: AnsweringBlocks | undefined): Promise<void> {
    const kept = new Set(groups.map(({ server }) => server));
    this.#former = former;
    try {
      await this.#close([...this.#open.keys()].filter((server) => !kept.has(server)));
    } finally {
      this.#former = undefined;
    }
  }

  async stop(): Promise<void> {
    await this.#close([...this.#open.keys()]);
  }

  async #close(servers: readonly string[]): Promise<void> {
    const closing = servers.flatMap((server) => this.#open.get(server) ?? []);
    const left = new Set(servers);
    const kept = [...this.#open].flatMap(([server, group]) => (left.has(server) ? [] : group));
    try {
      await Promise.all([
        this.#reader?.serve(listSharedAddresses(kept)),
        ...closing.flatMap(({ tcp, udp }) => [...tcp, ...udp].map((each) => each.stop(GRACE_MILLISECONDS))),
      ]);
    } finally {
      // Delete the groups last: their blocks answer queries received until then.
      for (const server of servers) {
        this.#open.delete(server);
        this.#certificates.forget(server);
      }
      this.#dependencies.groupEvents?.close(servers);
      this.#giveBack(closing.flatMap(({ readers }) => readers));
      const ended = closing.flatMap(({ tcp }) => tcp.map((listener) => listener.count()));
      this.#endedTcp = [{ ...sumTcpCounts([...this.#endedTcp, ...ended]), open: 0, heldOctets: 0 }];
    }
  }

  /** @returns consecutive reader numbers; empty if one reader is enough or too few are free */
  #take({ readers, proxies }: ListenerGroupPlan): readonly number[] {
    if (readers < 2 || this.#reader === undefined || proxies?.sessions !== undefined) return [];
    const rows = this.#free.map((first) => Array.from({ length: readers }, (_, index) => first + index));
    const taken = rows.find((row) => row.every((number) => this.#free.includes(number))) ?? [];
    this.#free = this.#free.filter((number) => !taken.includes(number));
    return taken;
  }

  #giveBack(readers: readonly number[]): void {
    this.#free = [...this.#free, ...readers].sort((one, other) => one - other);
  }

  async #listen(
    plan: ListenerGroupPlan,
    { readers, interfaces }: ListeningPlace,
    blocks: LimitingBlocks,
  ): Promise<void> {
    const { server, address, port } = plan;
    const group = this.#getListenerGroupNumber(plan);
    const clientRules = shareRules(plan.clients, blocks.limits.listRatedZones(server));
    const wanted = plan.addresses ?? (isWildcard(address) ? 'all' : [address]);
    const addresses = addressesToBind(wanted, interfaces).map((each) => ({
      address: each,
      port,
      group,
      clientRules,
      proxies: plan.proxies,
      drops: this.#shedCounts.open(plan),
    }));
    const { events, groupEvents } = this.#dependencies;
    const rings = groupEvents?.findRings(server) ?? events;
    let tcp: TcpListener | undefined;
    try {
      tcp = await this.#listenOnTcp(plan, addresses, this.#joins(plan));
      // Only for readers: the plugin `log` notes what the main thread answers.
      const withEvents = addresses.map((each) => ({ ...each, events: rings }));
      const udp = await this.#listenOnUdp(plan, withEvents, readers);
      const isShared = udp === undefined;
      const own = udp === undefined ? [] : [udp];
      this.#open.set(server, { plan, addresses: withEvents, tcp: [tcp], udp: own, isShared, readers });
    } catch (error) {
      this.#certificates.forget(server);
      await tcp?.stop(0);
      throw error;
    }
  }

  #makeReader(): GroupReader {
    const { engine, takeover, commonReaders, startReader, udpCoalesce = 0, clock } = this.#dependencies;
    const { forwarding, udpSize, timeouts, events, wrap = unchanged } = this.#dependencies;
    return new GroupReader({
      maxReaders: commonReaders,
      takeover,
      forwarding,
      events,
      coalesce: udpCoalesce,
      table: engine.table.memory,
      udpSize,
      timeouts,
      handleQuery: wrap((packet, client) => this.#answer(this.#findPlan(client.group), packet, client)),
      ...(this.#dependencies.givesOfferedSize && {
        answerLarge: (packet, client) => this.#answerLarge(this.#findPlan(client.group), packet, client),
      }),
      onReaderDead: (dead) => engine.table.readerDied(dead),
      startThread: startReader,
      grace: GRACE_MILLISECONDS,
      log: this.#dependencies.socketLog,
      clock,
    });
  }

  /** @returns undefined if the shared reader is to serve the group */
  async #listenOnUdp(
    plan: ListenerGroupPlan,
    addresses: readonly ListenAddress[],
    readers: readonly number[],
  ): Promise<UdpListener | undefined> {
    if (plan.scheme !== 'dns') return undefined;
    // Readers get packets of a sender by chance, so none of them knows its session.
    if (this.#reader === undefined || plan.proxies?.sessions !== undefined)
      return await this.#listenByDatagrams(plan, addresses);
    const [firstReader] = readers;
    if (firstReader === undefined) return undefined;
    const { engine, forwarding, startReader } = this.#dependencies;
    return await listenByBatches({
      ...this.#shared(plan),
      ...(this.#dependencies.givesOfferedSize && {
        answerLarge: (packet, client) => this.#answerLarge(plan, packet, client),
      }),
      addresses,
      forwarding,
      readers: readers.length,
      firstReader,
      takeover: this.#joins(plan),
      table: engine.table.memory,
      startThread: startReader,
      onReaderDead: (dead) => engine.table.readerDied(dead),
    });
  }

  /** Specific addresses may coexist with the wildcard address, so only the first group of a port checks for other processes. */
  #joins({ port }: ListenerGroupPlan): boolean {
    return this.#dependencies.takeover || [...this.#open.values()].some(({ plan }) => plan.port === port);
  }

  /** @param group its number; undefined if the group is closed */
  #findPlan(group = 0): ListenerGroupPlan | undefined {
    for (const { plan, addresses } of this.#open.values()) if (addresses[0]?.group === group) return plan;
    return undefined;
  }

  #listenByDatagrams(plan: ListenerGroupPlan, addresses: readonly ListenAddress[]): Promise<UdpListener> {
    const addressNow = () => this.#findAddress(plan, addresses);
    return listenByDatagrams({
      ...this.#shared(plan),
      get clientRules() {
        return addressNow()?.clientRules;
      },
      get proxies() {
        return addressNow()?.proxies;
      },
      get drops() {
        return addressNow()?.drops;
      },
      addresses,
    });
  }

  #getListenerGroupNumber({ server }: ListenerGroupPlan): number {
    return this.#dependencies.engine.getListenerGroupNumber(server);
  }

  #listenOnTcp(
    plan: ListenerGroupPlan,
    addresses: readonly ListenAddress[],
    takeover: boolean,
  ): Promise<TcpListener> {
    const addressNow = () => this.#findAddress(plan, addresses);
    return this.#certificates.open(plan.server, plan.tls, (encryption) =>
      listenOnTcp({
        ...this.#shared(plan),
        get clientRules() {
          return addressNow()?.clientRules;
        },
        get proxies() {
          return addressNow()?.proxies;
        },
        addresses,
        takeover,
        native: this.#reader !== undefined,
        limits: toTcpLimits(plan),
        encryption,
        protocol: this.#findProtocol(plan),
      }),
    );
  }

  #findProtocol({ scheme, server }: ListenerGroupPlan): StreamProtocol {
    if (scheme === 'https') return { kind: scheme, onResponse: this.#countHttp(server) };
    return { kind: scheme === 'grpc' ? scheme : 'dns' };
  }

  #countHttp(server: string): (status: number) => void {
    const help = 'Counter of DoH responses per server and http status code.';
    const { metrics } = this.#dependencies.engine;
    const counter = metrics.counter('coredns_dns_https_responses_total', help, ['server', 'status']);
    return (status) => counter.inc({ server, status: String(status) });
  }

  /** An address of a group with the rules in force, which all of them share. @param addresses of the group when it was opened */
  #findAddress(
    { server }: ListenerGroupPlan,
    addresses: readonly ListenAddress[],
  ): ListenAddress | undefined {
    return (this.#open.get(server)?.addresses ?? addresses)[0];
  }

  #shared(plan: ListenerGroupPlan) {
    const {
      engine,
      clock,
      udpSize,
      timeouts,
      socketLog: log,
      events,
      groupEvents,
      wrap = unchanged,
    } = this.#dependencies;
    const handleQuery = wrap((packet, client) => this.#answer(plan, packet, client));
    // The plugin `log` notes what the chain answers; the rings of a group show what the table answers.
    const tableEvents = groupEvents?.findRings(plan.server);
    return { handleQuery, answers: engine.reader, udpSize, timeouts, events, tableEvents, log, clock };
  }

  #answerLarge(
    plan: ListenerGroupPlan | undefined,
    ...query: Parameters<LargeAnswers['answer']>
  ): Uint8Array | undefined {
    if (plan === undefined) return undefined;
    const known = this.#largeAnswers.get(plan);
    if (known !== undefined) return known.answer(...query);
    const { answers, handleQuery: _, ...dependencies } = this.#shared(plan);
    const made = new LargeAnswers(answers, dependencies);
    this.#largeAnswers.set(plan, made);
    return made.answer(...query);
  }

  async #answer(
    plan: ListenerGroupPlan | undefined,
    ...[packet, client]: Parameters<HandleQuery>
  ): ReturnType<HandleQuery> {
    // The group was closed while this packet was queued: drop it.
    if (plan === undefined) return undefined;
    const { server, address, port } = plan;
    const known = isWildcard(address) ? undefined : address;
    const { serverBlocks } = this.#dependencies.engine;
    const handleQuery = serverBlocks.findQueryHandler(server) ?? this.#former?.findQueryHandler(server);
    return await handleQuery?.(packet, {
      ...client,
      localAddress: client.localAddress ?? known,
      localPort: port,
    });
  }
}

function shareRules(
  rules: ClientRules | undefined,
  zones: readonly RatedZone[],
): SharedClientRules | undefined {
  return shareClientRules(rules, randomInt(2 ** 31), zones);
}

const unchanged = (handleQuery: HandleQuery): HandleQuery => handleQuery;

/** The addresses that the shared readers serve. */
function listSharedAddresses(groups: readonly OpenGroup[]): readonly ListenAddress[] {
  return groups.flatMap(({ plan, addresses, isShared }) =>
    plan.scheme === 'dns' && isShared ? addresses : [],
  );
}

function toTcpLimits({ tcp }: ListenerGroupPlan): Partial<TcpLimits> {
  const { queries = -1, idle, read, write, connections, connectionsPerClient, owed } = tcp;
  return {
    queries: queries < 0 ? Number.POSITIVE_INFINITY : queries,
    ...(idle !== undefined && { idleMilliseconds: idle }),
    readMilliseconds: read,
    writeMilliseconds: write,
    ...(connections !== undefined && { connections }),
    ...(connectionsPerClient !== undefined && { connectionsPerClient }),
    ...(owed !== undefined && { owed }),
  };
}

/** In CoreDNS, each of these means all addresses of both families. */
function isWildcard(address: string): boolean {
  return address === '' || address === '0.0.0.0' || address === '::';
}

/** The groups whose sockets follow plans. Those of interfaces follow these. */
export function followedGroups({ listen }: ServerPlan): readonly ListenerGroupPlan[] {
  return listen.interfaces === undefined ? listen.groups : [];
}

/** `address:port` each; without those that are known only when the server listens. */
export function listEndpoints({ listen }: ServerPlan): readonly string[] {
  if (listen.interfaces !== undefined) return [];
  return listen.groups.flatMap(({ addresses, address, port }) =>
    port === 0 ? [] : [addresses ?? address].flat().map((each) => `${each}:${port}`),
  );
}
