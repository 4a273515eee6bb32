/**
 * The sockets of server blocks: one set of listeners for each group, which its blocks answer.
 */
import { networkInterfaces } from 'node:os';
import type { Clock } from '../base/clock.ts';
import { type Log, silentLog } from '../base/log.ts';
import type { ListenerGroupPlan, ServerBlocksPlan } from '../config/server/server-blocks-plan.ts';
import type { Engine } from '../engine/engine.ts';
import { CHAIN_ONLY } from '../listen/chain-only.ts';
import { Listeners } from '../listen/listeners.ts';
import { addressesToBind } from '../listen/local-addresses.ts';
import type { InstantAnswers } from '../listen/types.ts';
import { VERDICT } from '../table/types.ts';
import { MAX_READERS } from '../table/writer.ts';
import { ReaderLog } from './reader-log.ts';

export interface ListenerGroupsDependencies {
  /** Answers for all groups. */
  readonly engine: Pick<Engine, 'table' | 'reader' | 'listenerGroupOf' | 'serverBlocks'>;
  /** Readers that the table has numbers for, beside the main thread. */
  readonly readers: number;
  /** Join ports that another process serves, instead of refusing to start. */
  readonly takeover: boolean;
  readonly readerEntry: URL;
  /** Where lines of `log` go. */
  readonly log: Log;
  readonly clock: Clock;
}

/** Groups that a change may add until the main thread serves them: each number costs counters of its own. */
const SPARE_READERS = 4;

/** How many readers a table needs numbers for: one for each group, and for some that are added later. */
export function countGroupReaders(groups: readonly ListenerGroupPlan[]): number {
  return Math.min(MAX_READERS - 1, groups.length + SPARE_READERS);
}

interface OpenGroup {
  readonly listeners: Listeners;
  /** Undefined: there was none left, so the main thread looks everything up. */
  readonly reader: number | undefined;
}

export class ListenerGroups {
  readonly #dependencies: ListenerGroupsDependencies;
  readonly #open = new Map<string, OpenGroup>();
  /** Numbers of readers that no group has. */
  readonly #free: number[];
  readonly #readerLog: ReaderLog;

  constructor(dependencies: ListenerGroupsDependencies) {
    this.#dependencies = dependencies;
    this.#readerLog = new ReaderLog(dependencies.clock, dependencies.log);
    this.#free = Array.from({ length: dependencies.readers }, (_, number) => number);
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
    await Promise.all(closing.map(({ listeners }) => listeners.stop()));
    for (const server of servers) this.#readerLog.close(server);
    this.#free.push(...closing.flatMap(({ reader }) => reader ?? []));
  }

  async #listen(plan: ListenerGroupPlan): Promise<void> {
    const reader = this.#free.shift();
    const listeners = this.#makeListeners(plan, reader);
    const { server, address, port } = plan;
    const group = this.#dependencies.engine.listenerGroupOf(server);
    const addresses = addressesToBind(isWildcard(address) ? 'all' : [address], networkInterfaces());
    try {
      await listeners.open(addresses.map((each) => ({ address: each, port, group })));
    } catch (error) {
      if (reader !== undefined) this.#free.push(reader);
      throw error;
    }
    this.#open.set(server, { listeners, reader });
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

  #makeListeners({ server, address, port, tcp }: ListenerGroupPlan, reader: number | undefined): Listeners {
    const { engine, takeover, readerEntry, clock } = this.#dependencies;
    const { queries = -1, idle } = tcp;
    const isRead = reader !== undefined;
    const known = isWildcard(address) ? undefined : address;
    return new Listeners({
      udpReaders: 1,
      ...(isRead && { firstReader: reader }),
      // Sockets of one address stand beside those of all addresses: only the first of a port is made sure to be alone.
      takeover: takeover || [...this.#open.keys()].some((other) => other.endsWith(`:${port}`)),
      udpSize: 4096,
      tcpLimits: {
        queries: queries < 0 ? Number.POSITIVE_INFINITY : queries,
        ...(idle !== undefined && { idleMilliseconds: idle }),
      },
      table: isRead ? engine.table.memory : undefined,
      answers: isRead ? this.#answersUnlessLogged(server) : CHAIN_ONLY,
      ...(isRead && { events: this.#readerLog.open(server) }),
      handleQuery: async (packet, client) => {
        this.#readerLog.catchUp();
        return await engine.serverBlocks?.handleQueryOf(server)?.(packet, {
          ...client,
          localAddress: client.localAddress ?? known,
          localPort: port,
        });
      },
      onReaderDead: (dead) => {
        if (isRead) engine.table.readerDied(dead);
      },
      log: silentLog,
      readerEntry,
      clock,
    });
  }
}

/** CoreDNS takes each of these for all addresses of both families. */
function isWildcard(address: string): boolean {
  return address === '' || address === '0.0.0.0' || address === '::';
}
