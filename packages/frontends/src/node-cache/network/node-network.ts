/**
 * Sets up the node's network for a node's cache: an interface with its addresses, and packet filter rules.
 *
 * The rules exist only while DNS is answered at the addresses. After two probes without an answer they are removed, so that the
 * Service with the same address answers instead; they are set again with the next answer. Interface and rules are checked
 * regularly, since other programs may remove them. A failure is logged, counted and retried; it never ends the server.
 */
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { ProgramError } from '@portolan/kernel/base/run-program.ts';
import { BlockedPathError, UnreadRulesError } from './accepting-filter.ts';
import type { IptablesLeftovers } from './iptables-leftovers.ts';
import type { NodeInterface } from './node-interface.ts';
import type { PacketFilter } from './packet-filter.ts';

/** The names in node-cache's metric. */
export type SetupError = 'iptables' | 'iptables_lock' | 'interface_add' | 'interface_check';

/** `path`: that of packets of pods. `lo`: they prove that DNS is answered, not that packets of pods arrive. */
export type ProbeWay = { readonly kind: 'path' } | { readonly kind: 'lo'; readonly reason: string };

export interface NodeNetworkDependencies {
  /** Undefined: do not set up an interface. */
  readonly networkInterface: Pick<NodeInterface, 'set' | 'remove'> | undefined;
  /** Undefined: do not set rules. */
  readonly filter: PacketFilter | undefined;
  /** Why there is no filter although rules are to be set. */
  readonly filterFault: string | undefined;
  /** Rules of others that would remain after ours are removed; undefined: do not remove any. */
  readonly leftovers: Pick<IptablesLeftovers, 'areThere' | 'remove'> | undefined;
  /** Removes leftover rules while ours stay. @returns the number removed @throws ProgramError */
  readonly clearLeftovers: (() => Promise<number>) | undefined;
  /** Whether a server has the port at the addresses, even if it is busy. Never rejects. */
  readonly isServed: () => Promise<boolean>;
  /**
   * Whether DNS is answered here. Never rejects.
   *
   * @param hasRules without rules the cluster answers a query to the address of a Service
   */
  readonly isAnswered: (hasRules: boolean) => Promise<boolean>;
  /** Which way the probes take, and why not that of pods. */
  readonly probeWay: () => ProbeWay;
  /** Takes away what probes need. Never rejects. */
  readonly endProbes: () => Promise<void>;
  /** Milliseconds between two checks of interface and rules. */
  readonly syncInterval: number;
  readonly onError: (error: SetupError) => void;
  readonly clock: Clock;
  readonly log: Log;
}

export interface RulesIn {
  readonly filter: string;
  readonly probe: ProbeWay['kind'];
}

/** That the node lacks rules which are to be set. */
export interface MissingRules {
  readonly reason: string;
  /** Milliseconds. */
  readonly age: number;
}

/** Milliseconds between two probes. */
const PROBE_INTERVAL = 1_000;
/** Probes without an answer until the rules are removed. */
const MAX_MISSES = 2;
/** Milliseconds. If rules lasted less than this, an address had no answer, and would have none a second later either. */
const MIN_STANDING = 10_000;
/** Milliseconds between two lines of the log about a failure that repeats. */
const REPORT_INTERVAL = 60_000;
const UNANSWERED = 'no answer at the local addresses';

export class NodeNetwork {
  readonly #dependencies: NodeNetworkDependencies;
  #timer: Timer | undefined;
  #misses = 0;
  #rulesSetAt = 0;
  /** Rules are not set before this time. */
  #heldUntil = Number.NEGATIVE_INFINITY;
  /** The way of probes that was logged last. */
  #reportedWay: ProbeWay['kind'] | undefined;
  #syncedAt = Number.NEGATIVE_INFINITY;
  /** When the rules were last seen, or this began. */
  #seenAt: number;
  #missingBecause = 'the server has just started';
  /** The last failures in the log, by their message. */
  readonly #reported = new Map<string, { readonly reason: string; readonly at: number }>();
  /** Whether checks are suspended. */
  #isHeld = false;
  #isStopped = false;
  /** The step under way: the next one waits for its end. */
  #step: Promise<void> = Promise.resolve();

  constructor(dependencies: NodeNetworkDependencies) {
    this.#dependencies = dependencies;
    this.#seenAt = dependencies.clock.monotonic();
  }

  /** Whether packets for the addresses bypass connection tracking now. */
  get hasRules(): boolean {
    return this.#dependencies.filter?.isSet ?? false;
  }

  /** The packet filter that has our rules now, and the way of the probes that they stand by, for metrics. */
  get rulesIn(): RulesIn | undefined {
    const { filter, probeWay } = this.#dependencies;
    return filter?.isSet === true ? { filter: filter.name, probe: probeWay().kind } : undefined;
  }

  /** For readiness, `doctor` and metrics. Undefined: rules are set, or none are to be set. */
  get missingRules(): MissingRules | undefined {
    const { filter, filterFault, clock } = this.#dependencies;
    if (this.#isStopped || (filter === undefined ? filterFault === undefined : filter.isSet))
      return undefined;
    return { reason: filterFault ?? this.#missingBecause, age: clock.monotonic() - this.#seenAt };
  }

  /** Whether rules are to be set. */
  get wantsRules(): boolean {
    return this.#dependencies.filter !== undefined || this.#dependencies.filterFault !== undefined;
  }

  /**
   * Call it before opening sockets, which need the addresses. Removes rules that a process left, unless another one answers
   * there: until we answer, they would keep packets from the Service.
   */
  async prepare(): Promise<void> {
    const { leftovers, isServed, log } = this.#dependencies;
    await this.#setInterface('interface_add');
    if (leftovers === undefined || !(await leftovers.areThere()) || (await isServed())) return;
    await this.#attempt('iptables', 'rules of an earlier process not removed', async () => {
      const rules = await leftovers.remove();
      log.warn('rules of an earlier process removed: nothing is served at the local addresses', { rules });
    });
  }

  /** Call it once queries are answered. */
  start(): void {
    this.#next(0);
  }

  /** Suspends all changes, while sockets are closed and probes are not answered. */
  async hold(): Promise<void> {
    this.#isHeld = true;
    this.#timer?.cancel();
    await this.#step;
    await this.#dependencies.endProbes();
  }

  /** Removes rules and interface. A second call, also of `leave`, does nothing. */
  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    await this.hold();
    const { filter, networkInterface } = this.#dependencies;
    if (filter !== undefined) await this.#attempt('iptables', 'rules not removed', () => filter.remove());
    if (networkInterface !== undefined)
      await this.#attempt('interface_check', 'interface not removed', () => networkInterface.remove());
  }

  /** Leaves the interface, and rules that others also need, for good. A second call, also of `stop`, does nothing. */
  async leave(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    await this.hold();
    this.#dependencies.filter?.leave();
    this.#dependencies.log.info('interface and rules left as they are');
  }

  /** Call it once our sockets are closed: leaves the network to another process that answers, or stops. */
  async stopUnlessServed(): Promise<void> {
    if (this.#isStopped) return;
    await this.hold();
    if (await this.#dependencies.isServed()) await this.leave();
    else await this.stop();
  }

  #next(pause: number): void {
    this.#timer = this.#dependencies.clock.after(pause, () => {
      this.#step = this.#check().then(() => {
        if (!this.#isHeld) this.#next(PROBE_INTERVAL);
      });
    });
  }

  async #check(): Promise<void> {
    const { isAnswered, filter, clock, syncInterval } = this.#dependencies;
    const isDue = clock.monotonic() - this.#syncedAt >= syncInterval;
    // The answer may be missing because another program removed the interface, as the original does when it ends.
    if (isDue || this.#misses > 0) await this.#setInterface('interface_check');
    this.#misses = (await isAnswered(this.hasRules)) ? 0 : this.#misses + 1;
    if (this.#misses > 0 && !this.hasRules) this.#missingBecause = UNANSWERED;
    if (filter !== undefined) await this.#checkRules(filter, isDue);
    if (isDue) this.#syncedAt = clock.monotonic();
    this.#noteRules();
  }

  #noteRules(): void {
    if (!this.hasRules) return;
    this.#seenAt = this.#dependencies.clock.monotonic();
    this.#missingBecause = 'they have gone, and are set again';
  }

  async #checkRules(filter: PacketFilter, isDue: boolean): Promise<void> {
    const { clock } = this.#dependencies;
    if (this.#misses >= MAX_MISSES && filter.isSet)
      await this.#attempt('iptables', 'rules not removed', () => this.#takeRulesAway(filter));
    else if (this.#misses === 0 && (isDue || !filter.isSet) && clock.monotonic() >= this.#heldUntil)
      await this.#attempt('iptables', 'rules not set', () => this.#setRules(filter));
  }

  async #setRules(filter: PacketFilter): Promise<void> {
    const { clock, log, syncInterval, clearLeftovers } = this.#dependencies;
    const hadRules = filter.isSet;
    const wasIncomplete = await filter.set().catch((failure: unknown) => {
      // A retry a second later would fail again.
      if (failure instanceof UnreadRulesError || failure instanceof BlockedPathError)
        this.#heldUntil = clock.monotonic() + syncInterval;
      if (failure instanceof ProgramError) this.#missingBecause = failure.message;
      throw failure;
    });
    if (!hadRules) {
      this.#rulesSetAt = clock.monotonic();
      // Only now do probes on the way of pods meet all addresses.
      if (!(await this.#dependencies.isAnswered(true))) this.#misses = 1;
    }
    if (wasIncomplete) log.info('packet filter rules set', { filter: filter.name });
    this.#reportWay();
    const rules = (await clearLeftovers?.()) ?? 0;
    if (rules > 0) log.info('rules of another process removed from iptables', { rules });
  }

  #reportWay(): void {
    const { log, probeWay } = this.#dependencies;
    const way = probeWay();
    if (way.kind === this.#reportedWay) return;
    this.#reportedWay = way.kind;
    if (way.kind === 'path') log.info('rules stand while probes on the way of pods are answered');
    else
      log.warn('rules stand while probes over lo are answered: queries of pods take another way', {
        reason: way.reason,
      });
  }

  async #takeRulesAway(filter: PacketFilter): Promise<void> {
    const { clock, syncInterval, log } = this.#dependencies;
    await filter.remove();
    this.#missingBecause = UNANSWERED;
    const now = clock.monotonic();
    if (now - this.#rulesSetAt < MIN_STANDING) this.#heldUntil = now + syncInterval;
    const remedy = 'queries go to the Service until DNS is answered here again';
    log.warn('no answer at the local addresses: rules removed', { remedy });
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
      this.#reported.delete(message);
    } catch (failure) {
      if (!(failure instanceof ProgramError)) throw failure;
      const isLocked = error === 'iptables' && /xtables lock/i.test(failure.complaint);
      this.#dependencies.onError(isLocked ? 'iptables_lock' : error);
      this.#report(message, failure.message);
    }
  }

  /** A failure is tried again each second: one line of the log a minute is enough, unless the reason changes. */
  #report(message: string, reason: string): void {
    const { clock, log } = this.#dependencies;
    const now = clock.monotonic();
    const last = this.#reported.get(message);
    const isNew = last?.reason !== reason || now - last.at >= REPORT_INTERVAL;
    log[isNew ? 'error' : 'debug'](message, { reason });
    if (isNew) this.#reported.set(message, { reason, at: now });
  }
}
