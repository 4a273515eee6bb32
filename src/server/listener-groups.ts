/**
 * The sockets of server blocks: TCP listeners for each group, which its blocks answer, and one reader thread for the UDP of all.
 */
import { networkInterfaces } from 'node:os';
import type { Clock } from '../base/clock.ts';
import { type Log, silentLog } from '../base/log.ts';
import type { ListenerGroupPlan, ServerBlocksPlan } from '../config/server/server-blocks-plan.ts';
import type { Engine } from '../engine/engine.ts';
import { listenByDatagrams } from '../listen/datagram.ts';
import { GroupReader } from '../listen/group-reader.ts';
import { addressesToBind } from '../listen/local-addresses.ts';
import { listenOnTcp, type TcpLimits, type TcpListener } from '../listen/tcp.ts';
import type { HandleQuery, InstantAnswers, ListenAddress } from '../listen/types.ts';
import type { UdpListener } from '../listen/udp-listener.ts';
import { batchesAvailable } from '../socket/libc.ts';
import { VERDICT } from '../table/types.ts';
import { ReaderLog } from './reader-log.ts';

export interface ListenerGroupsDependencies {
  /** Answers for all groups. */
  readonly engine: Pick<Engine, 'table' | 'reader' | 'listenerGroupOf' | 'serverBlocks'>;
  /** Join ports that another process serves, instead of refusing to start. */
  readonly takeover: boolean;
  readonly readerEntry: URL;
  /** Where lines of `log` go. */
  readonly log: Log;
  readonly clock: Clock;
}

interface OpenGroup {
  readonly plan: ListenerGroupPlan;
  readonly addresses: readonly ListenAddress[];
  readonly tcp: TcpListener;
  /** Where there are no batches; else the reader serves all groups. */
  readonly udp: UdpListener | undefined;
}

/** What our OPT records say that we take over UDP. */
const UDP_SIZE = 4096;
/** How long answers that are under way may take when a group is closed. */
const GRACE_MILLISECONDS = 2_000;

export class ListenerGroups {
  readonly #dependencies: ListenerGroupsDependencies;
  readonly #open = new Map<string, OpenGroup>();
  readonly #reader: GroupReader | undefined;
  readonly #readerLog: ReaderLog;

  constructor(dependencies: ListenerGroupsDependencies) {
    this.#dependencies = dependencies;
    this.#readerLog = new ReaderLog(dependencies.clock, dependencies.log);
    if (batchesAvailable() === true) this.#reader = this.#makeReader();
  }

  /**
   * Opens the sockets of those groups that have none yet: all, or none.
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
      await this.#reader?.serve(this.#addresses());
    } catch (error) {
      await this.#close(opened);
      throw error;
    }
  }

  /** Logs what readers answer as these blocks say. */
  logBy(plan: ServerBlocksPlan): void {
    this.#readerLog.follow(plan);
  }

  /** Leaves the sockets of all other groups, without losing what was received. */
  async keepOnly(groups: readonly ListenerGroupPlan[]): Promise<void> {
    const kept = new Set(groups.map(({ server }) => server));
    await this.#close([...this.#open.keys()].filter((server) => !kept.has(server)));
  }

  async stop(): Promise<void> {
    await this.#close([...this.#open.keys()]);
  }

  async #close(servers: readonly string[]): Promise<void> {
    const closing = servers.flatMap((server) => this.#open.get(server) ?? []);
    for (const server of servers) this.#open.delete(server);
    await Promise.all([
      this.#reader?.serve(this.#addresses()),
      ...closing.flatMap(({ tcp, udp }) => [tcp.stop(GRACE_MILLISECONDS), udp?.stop(GRACE_MILLISECONDS)]),
    ]);
    for (const server of servers) this.#readerLog.close(server);
  }

  #addresses(): readonly ListenAddress[] {
    return [...this.#open.values()].flatMap(({ addresses }) => addresses);
  }

  async #listen(plan: ListenerGroupPlan): Promise<void> {
    const { server, address, port } = plan;
    const group = this.#dependencies.engine.listenerGroupOf(server);
    const addresses = addressesToBind(isWildcard(address) ? 'all' : [address], networkInterfaces()).map(
      (each) => ({ address: each, port, group }),
    );
    const tcp = await this.#listenOnTcp(plan, addresses);
    try {
      const udp = this.#reader === undefined ? await this.#listenByDatagrams(plan, addresses) : undefined;
      const events = this.#readerLog.open(server);
      this.#open.set(server, { plan, addresses: addresses.map((each) => ({ ...each, events })), tcp, udp });
    } catch (error) {
      await tcp.stop(0);
      throw error;
    }
  }

  #makeReader(): GroupReader {
    const { engine, takeover, readerEntry, clock } = this.#dependencies;
    return new GroupReader({
      takeover,
      table: engine.table.memory,
      udpSize: UDP_SIZE,
      handleQuery: (packet, client) => this.#answer(this.#planOf(client.group), packet, client),
      onReaderDead: (dead) => engine.table.readerDied(dead),
      threadEntry: readerEntry,
      grace: GRACE_MILLISECONDS,
      log: silentLog,
      clock,
    });
  }

  /** @param group its number; undefined: the group is closed */
  #planOf(group = 0): ListenerGroupPlan | undefined {
    for (const { plan, addresses } of this.#open.values()) if (addresses[0]?.group === group) return plan;
    return undefined;
  }

  #listenOnTcp(plan: ListenerGroupPlan, addresses: readonly ListenAddress[]): Promise<TcpListener> {
    const { takeover } = this.#dependencies;
    return listenOnTcp({
      ...this.#shared(plan),
      addresses,
      // Sockets of one address stand beside those of all addresses: only the first of a port is made sure to be alone.
      takeover: takeover || [...this.#open.values()].some((other) => other.plan.port === plan.port),
      native: this.#reader !== undefined,
      limits: limitsOf(plan),
    });
  }

  #listenByDatagrams(plan: ListenerGroupPlan, addresses: readonly ListenAddress[]): Promise<UdpListener> {
    return listenByDatagrams({ ...this.#shared(plan), addresses });
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
    if (plan === undefined) return undefined;
    this.#readerLog.catchUp();
    const { server, address, port } = plan;
    const known = isWildcard(address) ? undefined : address;
    return await this.#dependencies.engine.serverBlocks?.handleQueryOf(server)?.(packet, {
      ...client,
      localAddress: client.localAddress ?? known,
      localPort: port,
    });
  }

  /** What the main thread looks up for TCP is not written to the ring of a reader. */
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

function limitsOf({ tcp: { queries = -1, idle, read, write } }: ListenerGroupPlan): Partial<TcpLimits> {
  return {
    queries: queries < 0 ? Number.POSITIVE_INFINITY : queries,
    ...(idle !== undefined && { idleMilliseconds: idle }),
    readMilliseconds: read,
    writeMilliseconds: write,
  };
}

/** CoreDNS takes each of these for all addresses of both families. */
function isWildcard(address: string): boolean {
  return address === '' || address === '0.0.0.0' || address === '::';
}
