/**
 * The sockets of server blocks: one set of listeners for each group, which its blocks answer.
 */
import { networkInterfaces } from 'node:os';
import type { Clock } from '../base/clock.ts';
import { silentLog } from '../base/log.ts';
import type { ListenerGroupPlan } from '../config/server/server-blocks-plan.ts';
import type { Engine } from '../engine/engine.ts';
import type { ServerBlocks } from '../engine/server-blocks/server-blocks.ts';
import { CHAIN_ONLY } from '../listen/chain-only.ts';
import { Listeners } from '../listen/listeners.ts';
import { addressesToBind } from '../listen/local-addresses.ts';

export interface ListenerGroupsDependencies {
  /** Answers for all groups. */
  readonly engine: Pick<Engine, 'table' | 'reader' | 'listenerGroupOf' | 'serverBlocks'>;
  /** Threads that answer UDP: of the first group that they are of use to. All others are served by the main thread. */
  readonly udpReaders: number;
  /** Join ports that another process serves, instead of refusing to start. */
  readonly takeover: boolean;
  readonly readerEntry: URL;
  readonly clock: Clock;
}

export class ListenerGroups {
  readonly #dependencies: ListenerGroupsDependencies;
  readonly #listeners = new Map<string, Listeners>();

  /** The group that the reader threads serve. */
  #read: string | undefined;

  constructor(dependencies: ListenerGroupsDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Opens the sockets of those groups that have none yet: all, or none.
   *
   * @param blocks those that will answer
   * @throws PortInUseError, SocketError, AddressError
   */
  async add(groups: readonly ListenerGroupPlan[], blocks: Pick<ServerBlocks, 'areRead'>): Promise<void> {
    const missing = groups.filter(({ server }) => !this.#listeners.has(server));
    const opened: string[] = [];
    try {
      for (const group of missing) {
        await this.#open(group, blocks);
        opened.push(group.server);
      }
    } catch (error) {
      await this.#close(opened);
      throw error;
    }
  }

  /** Leaves the sockets of all other groups, without losing what was received. */
  async keepOnly(groups: readonly ListenerGroupPlan[]): Promise<void> {
    const kept = new Set(groups.map(({ server }) => server));
    await this.#close([...this.#listeners.keys()].filter((server) => !kept.has(server)));
  }

  async stop(): Promise<void> {
    await this.#close([...this.#listeners.keys()]);
  }

  async #close(servers: readonly string[]): Promise<void> {
    const listeners = servers.flatMap((server) => this.#listeners.get(server) ?? []);
    for (const server of servers) this.#listeners.delete(server);
    await Promise.all(listeners.map((each) => each.stop()));
    if (this.#read !== undefined && servers.includes(this.#read)) this.#read = undefined;
  }

  async #open(
    { server, address, port, tcp }: ListenerGroupPlan,
    blocks: Pick<ServerBlocks, 'areRead'>,
  ): Promise<void> {
    const { engine, udpReaders, takeover, readerEntry, clock } = this.#dependencies;
    const { queries = -1, idle } = tcp;
    const group = engine.listenerGroupOf(server);
    // The table knows readers by their numbers.
    const isRead = this.#read === undefined && udpReaders > 0 && blocks.areRead(server);
    if (isRead) this.#read = server;
    // CoreDNS takes each of the two for all addresses of both families.
    const isWildcard = address === '' || address === '0.0.0.0' || address === '::';
    const known = isWildcard ? undefined : address;
    const listeners = new Listeners({
      udpReaders: isRead ? udpReaders : 1,
      // Sockets of one address stand beside those of all addresses: only the first of a port is made sure to be alone.
      takeover: takeover || [...this.#listeners.keys()].some((other) => other.endsWith(`:${port}`)),
      udpSize: 4096,
      tcpLimits: {
        queries: queries < 0 ? Number.POSITIVE_INFINITY : queries,
        ...(idle !== undefined && { idleMilliseconds: idle }),
      },
      table: isRead ? engine.table.memory : undefined,
      answers: isRead ? engine.reader : CHAIN_ONLY,
      handleQuery: async (packet, client) =>
        await engine.serverBlocks?.handleQueryOf(server)?.(packet, {
          ...client,
          localAddress: client.localAddress ?? known,
          localPort: port,
        }),
      onReaderDead: (reader) => {
        if (isRead) engine.table.readerDied(reader);
      },
      log: silentLog,
      readerEntry,
      clock,
    });
    const addresses = addressesToBind(isWildcard ? 'all' : [address], networkInterfaces());
    await listeners.open(addresses.map((each) => ({ address: each, port, group })));
    this.#listeners.set(server, listeners);
  }
}
