/**
 * What a node's cache needs of the node's network: an interface with its addresses, and packet filter rules.
 *
 * The rules stand only while DNS is answered at the addresses: after two probes without an answer they are removed, so that the
 * Service behind the same address answers instead, and they return with the answers. Interface and rules are checked regularly,
 * since other programs may remove them. A failure is logged and counted, and tried again; it never ends the server.
 */
import type { Clock, Timer } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { NodeInterface } from './node-interface.ts';
import type { PacketFilter } from './packet-filter.ts';
import { ProgramError } from './run-program.ts';

/** As node-cache names them in its metric. */
export type SetupError = 'iptables' | 'iptables_lock' | 'interface_add' | 'interface_check';

export interface NodeNetworkDependencies {
  /** Undefined: none is set up. */
  readonly networkInterface: Pick<NodeInterface, 'set' | 'remove'> | undefined;
  /** Undefined: no rules are set. */
  readonly filter: PacketFilter | undefined;
  /**
   * Whether DNS is answered here. Never rejects.
   *
   * @param hasRules without them a query to the address of a Service is answered by the cluster
   */
  readonly isAnswered: (hasRules: boolean) => Promise<boolean>;
  /** Milliseconds between two checks of interface and rules. */
  readonly syncInterval: number;
  readonly onError: (error: SetupError) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** Milliseconds between two probes. */
const PROBE_INTERVAL = 1_000;
/** Probes without an answer until the rules are removed. */
const MAX_MISSES = 2;
/** Milliseconds. Rules that stood for less had no answer at all their addresses, and would have none a second later. */
const MIN_STANDING = 10_000;

export class NodeNetwork {
  readonly #dependencies: NodeNetworkDependencies;
  #timer: Timer | undefined;
  #misses = 0;
  #hasRules = false;
  #rulesSetAt = 0;
  /** Rules are not set before. */
  #heldUntil = Number.NEGATIVE_INFINITY;
  #syncedAt = Number.NEGATIVE_INFINITY;
  #isStopped = false;
  /** The step that is under way: another one waits for its end. */
  #step: Promise<void> = Promise.resolve();

  constructor(dependencies: NodeNetworkDependencies) {
    this.#dependencies = dependencies;
  }

  /** Whether packets for the addresses bypass connection tracking now. */
  get hasRules(): boolean {
    return this.#hasRules;
  }

  /** To be called before sockets are opened: they need the addresses. */
  async prepare(): Promise<void> {
    await this.#setInterface('interface_add');
  }

  /** To be called once queries are answered. */
  start(): void {
    this.#next(0);
  }

  /**
   * Removes the rules, and the interface unless something else answers at the addresses. A second call does nothing.
   *
   * @param isTakenOver whether interface and shared rules stay: for another process that answers there, or by choice
   */
  async stop(isTakenOver: boolean): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#timer?.cancel();
    await this.#step;
    const { filter, networkInterface, log } = this.#dependencies;
    if (isTakenOver) {
      filter?.leave();
      log.info('interface and rules left as they are');
      return;
    }
    if (filter !== undefined)
      await this.#attempt('iptables', 'rules not removed', () => this.#removeRules(filter));
    if (networkInterface !== undefined)
      await this.#attempt('interface_check', 'interface not removed', () => networkInterface.remove());
  }

  #next(pause: number): void {
    this.#timer = this.#dependencies.clock.after(pause, () => {
      this.#step = this.#check().then(() => {
        if (!this.#isStopped) this.#next(PROBE_INTERVAL);
      });
    });
  }

  async #check(): Promise<void> {
    const { isAnswered, filter, clock, syncInterval } = this.#dependencies;
    const isDue = clock.monotonic() - this.#syncedAt >= syncInterval;
    if (isDue) await this.#setInterface('interface_check');
    this.#misses = (await isAnswered(this.#hasRules)) ? 0 : this.#misses + 1;
    if (filter === undefined) {
      if (isDue) this.#syncedAt = clock.monotonic();
      return;
    }
    if (this.#misses >= MAX_MISSES && this.#hasRules)
      await this.#attempt('iptables', 'rules not removed', () => this.#takeRulesAway(filter));
    else if (this.#misses === 0 && (isDue || !this.#hasRules) && clock.monotonic() >= this.#heldUntil)
      await this.#attempt('iptables', 'rules not set', () => this.#setRules(filter));
    if (isDue) this.#syncedAt = clock.monotonic();
  }

  async #setRules(filter: PacketFilter): Promise<void> {
    const wasIncomplete = await filter.set();
    if (!this.#hasRules) this.#rulesSetAt = this.#dependencies.clock.monotonic();
    this.#hasRules = true;
    if (wasIncomplete) this.#dependencies.log.info('packet filter rules set', { filter: filter.name });
  }

  async #takeRulesAway(filter: PacketFilter): Promise<void> {
    const { clock, syncInterval } = this.#dependencies;
    await this.#removeRules(filter);
    const now = clock.monotonic();
    if (now - this.#rulesSetAt < MIN_STANDING) this.#heldUntil = now + syncInterval;
    const remedy = 'queries go to the Service until DNS is answered here again';
    this.#dependencies.log.warn('no answer at the local addresses: rules removed', { remedy });
  }

  async #removeRules(filter: PacketFilter): Promise<void> {
    await filter.remove();
    this.#hasRules = false;
  }

  async #setInterface(error: SetupError): Promise<void> {
    const { networkInterface } = this.#dependencies;
    if (networkInterface === undefined) return;
    await this.#attempt(error, 'addresses not set up', async () => {
      await networkInterface.set();
    });
  }

  async #attempt(error: SetupError, message: string, run: () => Promise<void>): Promise<void> {
    try {
      await run();
    } catch (failure) {
      if (!(failure instanceof ProgramError)) throw failure;
      const isLocked = error === 'iptables' && /xtables lock/i.test(failure.message);
      this.#dependencies.onError(isLocked ? 'iptables_lock' : error);
      this.#dependencies.log.error(message, { reason: failure.message });
    }
  }
}
