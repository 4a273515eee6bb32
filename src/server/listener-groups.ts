/**
 * The sockets of server blocks: one set of listeners for each group, which its blocks answer.
 */
import { networkInterfaces } from 'node:os';
import type { Clock } from '../base/clock.ts';
import { silentLog } from '../base/log.ts';
import type { ListenerGroupPlan } from '../config/server/server-blocks-plan.ts';
import type { ServerBlocks } from '../engine/server-blocks/server-blocks.ts';
import { Listeners } from '../listen/listeners.ts';
import { addressesToBind } from '../listen/local-addresses.ts';
import type { InstantAnswers } from '../listen/types.ts';

export interface ListenerGroupsDependencies {
  readonly readerEntry: URL;
  readonly clock: Clock;
}

/** Every query is for the blocks. */
const NO_INSTANT_ANSWERS: InstantAnswers = { enter() {}, leave() {}, setTime() {}, answer: () => -1 };

export class ListenerGroups {
  readonly #blocks: ServerBlocks;
  readonly #dependencies: ListenerGroupsDependencies;
  readonly #listeners = new Map<string, Listeners>();

  constructor(blocks: ServerBlocks, dependencies: ListenerGroupsDependencies) {
    this.#blocks = blocks;
    this.#dependencies = dependencies;
  }

  /** Opens the sockets of all groups, or none. @throws PortInUseError, SocketError, AddressError */
  async open(groups: readonly ListenerGroupPlan[]): Promise<void> {
    try {
      for (const group of groups) await this.#open(group);
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#listeners.values()].map((listeners) => listeners.stop()));
    this.#listeners.clear();
  }

  async #open({ server, address, port, tcp }: ListenerGroupPlan): Promise<void> {
    const { queries = -1, idle } = tcp;
    const listeners = new Listeners({
      // The chain answers everything, and it is on the main thread.
      udpReaders: 0,
      takeover: false,
      udpSize: 4096,
      tcpLimits: {
        queries: queries < 0 ? Number.POSITIVE_INFINITY : queries,
        ...(idle !== undefined && { idleMilliseconds: idle }),
      },
      table: new SharedArrayBuffer(0),
      answers: NO_INSTANT_ANSWERS,
      handleQuery: async (packet, client) => await this.#blocks.handleQueryOf(server)?.(packet, client),
      onReaderDead() {},
      log: silentLog,
      ...this.#dependencies,
    });
    const addresses = addressesToBind(address === '' ? 'all' : [address], networkInterfaces());
    await listeners.open(addresses.map((each) => ({ address: each, port })));
    this.#listeners.set(server, listeners);
  }
}
