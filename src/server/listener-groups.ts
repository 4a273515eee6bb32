/**
 * The sockets of server blocks: one set of listeners for each group, which its blocks answer.
 */
import { networkInterfaces } from 'node:os';
import type { Clock } from '../base/clock.ts';
import { silentLog } from '../base/log.ts';
import type { ListenerGroupPlan } from '../config/server/server-blocks-plan.ts';
import type { ServerBlocks } from '../engine/server-blocks/server-blocks.ts';
import { CHAIN_ONLY } from '../listen/chain-only.ts';
import { Listeners } from '../listen/listeners.ts';
import { addressesToBind } from '../listen/local-addresses.ts';

export interface ListenerGroupsDependencies {
  /** Join ports that another process serves, instead of refusing to start. */
  readonly takeover: boolean;
  readonly readerEntry: URL;
  readonly clock: Clock;
}

export class ListenerGroups {
  readonly #blocks: () => ServerBlocks;
  readonly #dependencies: ListenerGroupsDependencies;
  readonly #listeners = new Map<string, Listeners>();

  /** @param blocks those that answer now */
  constructor(blocks: () => ServerBlocks, dependencies: ListenerGroupsDependencies) {
    this.#blocks = blocks;
    this.#dependencies = dependencies;
  }

  /**
   * Opens the sockets of those groups that have none yet: all, or none.
   *
   * @throws PortInUseError, SocketError, AddressError
   */
  async add(groups: readonly ListenerGroupPlan[]): Promise<void> {
    const missing = groups.filter(({ server }) => !this.#listeners.has(server));
    const opened: string[] = [];
    try {
      for (const group of missing) {
        await this.#open(group);
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
  }

  async #open({ server, address, port, tcp }: ListenerGroupPlan): Promise<void> {
    const { takeover, ...dependencies } = this.#dependencies;
    const { queries = -1, idle } = tcp;
    // CoreDNS takes each of the two for all addresses of both families.
    const isWildcard = address === '' || address === '0.0.0.0' || address === '::';
    const known = isWildcard ? undefined : address;
    const listeners = new Listeners({
      udpReaders: 1,
      // Sockets of one address stand beside those of all addresses: only the first of a port is made sure to be alone.
      takeover: takeover || [...this.#listeners.keys()].some((other) => other.endsWith(`:${port}`)),
      udpSize: 4096,
      tcpLimits: {
        queries: queries < 0 ? Number.POSITIVE_INFINITY : queries,
        ...(idle !== undefined && { idleMilliseconds: idle }),
      },
      table: undefined,
      answers: CHAIN_ONLY,
      handleQuery: async (packet, client) =>
        await this.#blocks().handleQueryOf(server)?.(packet, {
          localAddress: known,
          ...client,
          localPort: port,
        }),
      onReaderDead() {},
      log: silentLog,
      ...dependencies,
    });
    const addresses = addressesToBind(isWildcard ? 'all' : [address], networkInterfaces());
    await listeners.open(addresses.map((each) => ({ address: each, port })));
    this.#listeners.set(server, listeners);
  }
}
