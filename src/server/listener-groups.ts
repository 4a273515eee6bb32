/**
 * The sockets of server blocks. Each group has TCP listeners for its blocks. Reader threads, at first one, serve the UDP sockets of all
 * groups; a group with `multisocket` has dedicated reader threads.
 */
import { networkInterfaces } from 'node:os';
import type { Clock } from '../base/clock.ts';
import { type Log, silentLog } from '../base/log.ts';
import type { ListenerGroupPlan, ServerBlocksPlan } from '../config/server/server-blocks-plan.ts';
import type { ServerPlan } from '../config/server/server-plan.ts';
import type { Engine } from '../engine/engine.ts';
import { listenByDatagrams } from '../listen/datagram.ts';
import { GroupReader } from '../listen/group-reader.ts';
import { addressesToBind } from '../listen/local-addresses.ts';
import type { QueryEventRings } from '../listen/query-events/event-rings.ts';
import { listenOnTcp, type TcpLimits, type TcpListener } from '../listen/tcp.ts';
import type { HandleQuery, InstantAnswers, ListenAddress } from '../listen/types.ts';
import { listenByBatches } from '../listen/udp.ts';
import type { UdpListener } from '../listen/udp-listener.ts';
import type { StartThread } from '../listen/udp-reader.ts';
import { batchesAvailable } from '../socket/libc.ts';
import { VERDICT } from '../table/types.ts';
import { MAX_READERS } from '../table/writer.ts';
import { ReaderLog } from './reader-log.ts';

type AnsweringBlocks = Pick<Engine['serverBlocks'], 'handleQueryOf'>;

export interface ListenerGroupsDependencies {
  /** The engine that answers for all groups. */
  readonly engine: Pick<Engine, 'table' | 'reader' | 'readerPath' | 'listenerGroupOf'> & {
    readonly serverBlocks: AnsweringBlocks;
  };
  /** Whether to join ports that another process serves, instead of refusing to start. */
  readonly takeover: boolean;
  /** The readers that the table has slots for, beside the main thread. */
  readonly readers: number;
  /** How many of these may serve all groups. */
  readonly commonReaders: number;
  readonly startReader: StartThread;
  /** The log of the plugin `log`. */
  readonly log: Log;
  readonly clock: Clock;
}

/** The maximum number of reader threads at any time: the shared ones and those dedicated to groups. */
export function countReaders(plan: ServerPlan): number {
  if (plan.listen.kind !== 'groups') return plan.udpReaders;
  return Math.min(MAX_GROUP_READERS, countCommonReaders(plan) + countOwnReaders(plan) + SPARE_READERS);
}

/** The maximum of shared readers; groups with `multisocket` get their readers first. */
export function countCommonReaders(plan: ServerPlan): number {
  return Math.max(1, Math.min(plan.udpReaders, MAX_GROUP_READERS - countOwnReaders(plan)));
}

function countOwnReaders(plan: ServerPlan): number {
  return groupsOf(plan).reduce((sum, { readers }) => sum + (readers > 1 ? readers : 0), 0);
}

/** The groups with sockets of their own. */
export function groupsOf({ listen }: ServerPlan): readonly ListenerGroupPlan[] {
  return listen.kind === 'groups' ? listen.groups : [];
}

const MAX_GROUP_READERS = MAX_READERS - 1;

/** Readers reserved for changes of the Corefile; each one costs its own counters. */
const SPARE_READERS = 4;

interface OpenGroup {
  readonly plan: ListenerGroupPlan;
  readonly addresses: readonly ListenAddress[];
  readonly tcp: TcpListener;
  /** The group's own listener; undefined: the shared reader serves it. */
  readonly udp: UdpListener | undefined;
  /** The consecutive numbers of its dedicated readers. */
  readonly readers: readonly number[];
}

/** The UDP size in our OPT records. */
const UDP_SIZE = 4096;
/** How long pending answers may take when a group is closed. */
const GRACE_MILLISECONDS = 2_000;

export class ListenerGroups {
  readonly #dependencies: ListenerGroupsDependencies;
  readonly #open = new Map<string, OpenGroup>();
  /** Undefined: this platform has no batches. */
  readonly #reader: GroupReader | undefined;
  /** Unused reader numbers, ascending. */
  #free: readonly number[];
  readonly #readerLog: ReaderLog;
  /** The former blocks of groups whose sockets are closing. */
  #former: AnsweringBlocks | undefined;

  constructor(dependencies: ListenerGroupsDependencies) {
    this.#dependencies = dependencies;
    this.#readerLog = new ReaderLog(dependencies.clock, dependencies.log);
    const { readers, commonReaders } = dependencies;
    // Lower numbers belong to the shared readers.
    this.#free = Array.from({ length: readers - commonReaders }, (_, index) => commonReaders + index);
    if (batchesAvailable() === true) this.#reader = this.#makeReader();
  }

  /**
   * Opens the sockets of all new groups, or of none.
   *
   * @throws PortInUseError, SocketError, AddressError
   */
  async add(groups: readonly ListenerGroupPlan[]): Promise<void> {
    const missing = groups.filter(({ server }) => !this.#open.has(server));
    const opened: string[] = [];
    try {
      for (const group of missing) {
        await this.#listen(group);
        opened.push(group.server);
      }
      await this.#reader?.serve(addressesOf([...this.#open.values()]));
    } catch (error) {
      await this.#close(opened);
      throw error;
    }
  }

  /** Logs answers of readers by the rules of these blocks. */
  logBy(plan: ServerBlocksPlan): void {
    this.#readerLog.follow(plan);
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
        this.#reader?.serve(addressesOf(kept)),
        ...closing.flatMap(({ tcp, udp }) => [tcp.stop(GRACE_MILLISECONDS), udp?.stop(GRACE_MILLISECONDS)]),
      ]);
    } finally {
      // Delete the groups last: their blocks answer queries received until then.
      for (const server of servers) {
        this.#open.delete(server);
        this.#readerLog.close(server);
      }
      this.#giveBack(closing.flatMap(({ readers }) => readers));
    }
  }

  /** @returns consecutive reader numbers; empty if one reader is enough or too few are free */
  #take({ readers }: ListenerGroupPlan): readonly number[] {
    if (readers < 2 || this.#reader === undefined) return [];
    const rows = this.#free.map((first) => Array.from({ length: readers }, (_, index) => first + index));
    const taken = rows.find((row) => row.every((number) => this.#free.includes(number))) ?? [];
    this.#free = this.#free.filter((number) => !taken.includes(number));
    return taken;
  }

  #giveBack(readers: readonly number[]): void {
    this.#free = [...this.#free, ...readers].sort((one, other) => one - other);
  }

  async #listen(plan: ListenerGroupPlan): Promise<void> {
    const { server, address, port } = plan;
    const group = this.#dependencies.engine.listenerGroupOf(server);
    const addresses = addressesToBind(isWildcard(address) ? 'all' : [address], networkInterfaces()).map(
      (each) => ({ address: each, port, group }),
    );
    const tcp = await this.#listenOnTcp(plan, addresses);
    const readers = this.#take(plan);
    const rings = this.#readerLog.open(server, readers.length || this.#dependencies.commonReaders);
    try {
      const udp = await this.#listenOnUdp(plan, addresses, readers, rings);
      const withEvents = addresses.map((each) => ({ ...each, events: rings }));
      this.#open.set(server, { plan, addresses: withEvents, tcp, udp, readers });
    } catch (error) {
      this.#giveBack(readers);
      this.#readerLog.close(server);
      await tcp.stop(0);
      throw error;
    }
  }

  #makeReader(): GroupReader {
    const { engine, takeover, commonReaders, startReader, clock } = this.#dependencies;
    return new GroupReader({
      maxReaders: commonReaders,
      takeover,
      forwarding: engine.readerPath,
      table: engine.table.memory,
      udpSize: UDP_SIZE,
      handleQuery: (packet, client) => this.#answer(this.#planOf(client.group), packet, client),
      onReaderDead: (dead) => engine.table.readerDied(dead),
      startThread: startReader,
      grace: GRACE_MILLISECONDS,
      log: silentLog,
      clock,
    });
  }

  /** @returns undefined if the shared reader is to serve the group */
  async #listenOnUdp(
    plan: ListenerGroupPlan,
    addresses: readonly ListenAddress[],
    readers: readonly number[],
    events: QueryEventRings,
  ): Promise<UdpListener | undefined> {
    if (this.#reader === undefined) return await listenByDatagrams({ ...this.#shared(plan), addresses });
    const [firstReader] = readers;
    if (firstReader === undefined) return undefined;
    const { engine, startReader } = this.#dependencies;
    return await listenByBatches({
      ...this.#shared(plan),
      addresses,
      events,
      forwarding: engine.readerPath,
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
  #planOf(group = 0): ListenerGroupPlan | undefined {
    for (const { plan, addresses } of this.#open.values()) if (addresses[0]?.group === group) return plan;
    return undefined;
  }

  #listenOnTcp(plan: ListenerGroupPlan, addresses: readonly ListenAddress[]): Promise<TcpListener> {
    return listenOnTcp({
      ...this.#shared(plan),
      addresses,
      takeover: this.#joins(plan),
      native: this.#reader !== undefined,
      limits: limitsOf(plan),
    });
  }

  #shared(plan: ListenerGroupPlan) {
    const { clock } = this.#dependencies;
    const handleQuery: HandleQuery = (packet, client) => this.#answer(plan, packet, client);
    const answers = this.#answersUnlessLogged(plan.server);
    return { handleQuery, answers, udpSize: UDP_SIZE, log: silentLog, clock };
  }

  async #answer(
    plan: ListenerGroupPlan | undefined,
    ...[packet, client]: Parameters<HandleQuery>
  ): ReturnType<HandleQuery> {
    // The group was closed while this packet was queued: drop it.
    if (plan === undefined) return undefined;
    this.#readerLog.catchUp();
    const { server, address, port } = plan;
    const known = isWildcard(address) ? undefined : address;
    const { serverBlocks } = this.#dependencies.engine;
    const handleQuery = serverBlocks.handleQueryOf(server) ?? this.#former?.handleQueryOf(server);
    return await handleQuery?.(packet, {
      ...client,
      localAddress: client.localAddress ?? known,
      localPort: port,
    });
  }

  /** Disables table lookups for TCP if the group logs queries: the main thread writes no reader events. */
  #answersUnlessLogged(server: string): InstantAnswers {
    const { reader } = this.#dependencies.engine;
    return {
      enter: () => reader.enter(),
      leave: (milliseconds) => reader.leave(milliseconds),
      setTime: (milliseconds) => reader.setTime(milliseconds),
      answer: (...query) => (this.#readerLog.isLogged(server) ? VERDICT.ASK : reader.answer(...query)),
    };
  }
}

/** The addresses that the shared reader serves. */
function addressesOf(groups: readonly OpenGroup[]): readonly ListenAddress[] {
  return groups.flatMap(({ addresses, udp }) => (udp === undefined ? addresses : []));
}

function limitsOf({ tcp: { queries = -1, idle, read, write } }: ListenerGroupPlan): Partial<TcpLimits> {
  return {
    queries: queries < 0 ? Number.POSITIVE_INFINITY : queries,
    ...(idle !== undefined && { idleMilliseconds: idle }),
    readMilliseconds: read,
    writeMilliseconds: write,
  };
}

/** In CoreDNS, each of these means all addresses of both families. */
function isWildcard(address: string): boolean {
  return address === '' || address === '0.0.0.0' || address === '::';
}
