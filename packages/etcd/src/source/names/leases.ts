/**
 * Tracks the remaining time of keys with a lease.
 *
 * etcd sends no event when a lease is renewed. So the remaining time is queried once, and again before half of it has passed.
 */
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import type { KeyNode } from './key-tree.ts';
import type { LeaseTimes } from './services.ts';

/** The lease that a key expires with: a lease in version 3, the key itself in version 2. */
export interface KeyLease {
  readonly id: string;
  /** Remaining seconds, if already known. */
  readonly seconds?: number;
}

export interface LeaseOptions {
  /** Queries the remaining seconds of a lease. */
  readonly ask: (id: string) => Promise<number>;
  /** Called when the remaining time of these keys was updated. */
  readonly onKnown: (nodes: Iterable<KeyNode>) => void;
  readonly clock: Clock;
}

interface Lease {
  readonly nodes: Set<KeyNode>;
  /** Milliseconds of the monotonic clock; undefined: not known yet. */
  ends: number | undefined;
  /** Time of the next query. */
  due: number;
  isAsked: boolean;
}

/** Milliseconds. */
const TICK = 1_000;
const MAX_QUESTIONS = 16;

export class Leases implements LeaseTimes {
  readonly #options: LeaseOptions;
  readonly #leases = new Map<string, Lease>();
  readonly #leaseByNode = new Map<KeyNode, string>();
  #questions = 0;
  /** Whether the timer is for leases that are due now. */
  #isDue = false;
  #timer: Timer | undefined;

  constructor(options: LeaseOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#leases.size;
  }

  /** Leases whose remaining time is not known yet. */
  get unknown(): number {
    return [...this.#leases.values()].filter(({ ends }) => ends === undefined).length;
  }

  /** @returns whether the key's lease or end has changed */
  bind(node: KeyNode, lease: KeyLease | undefined): boolean {
    const before = this.#leaseByNode.get(node);
    if (before === lease?.id && lease?.seconds === undefined) return false;
    if (before !== undefined && before !== lease?.id) this.#unbind(node, before);
    if (lease === undefined) return before !== undefined;
    const now = this.#options.clock.monotonic();
    const known = this.#leases.get(lease.id) ?? {
      nodes: new Set(),
      ends: undefined,
      due: now,
      isAsked: false,
    };
    known.nodes.add(node);
    this.#leases.set(lease.id, known);
    this.#leaseByNode.set(node, lease.id);
    if (lease.seconds !== undefined) this.#learn(known, lease.seconds);
    this.#schedule(known.due - now);
    return true;
  }

  unbind(node: KeyNode): void {
    const id = this.#leaseByNode.get(node);
    if (id !== undefined) this.#unbind(node, id);
  }

  secondsLeft(node: KeyNode): number | undefined {
    const id = this.#leaseByNode.get(node);
    if (id === undefined) return 0;
    const ends = this.#leases.get(id)?.ends;
    // At least 1: a key stays until its lease is known to have expired.
    return ends && Math.max(1, Math.floor((ends - this.#options.clock.monotonic()) / 1000));
  }

  findLease(node: KeyNode): KeyLease | undefined {
    const id = this.#leaseByNode.get(node);
    const seconds = this.secondsLeft(node);
    return id === undefined ? undefined : { id, ...(seconds !== undefined && { seconds }) };
  }

  stop(): void {
    this.#timer?.cancel();
    this.#leases.clear();
    this.#leaseByNode.clear();
  }

  #unbind(node: KeyNode, id: string): void {
    this.#leaseByNode.delete(node);
    const lease = this.#leases.get(id);
    lease?.nodes.delete(node);
    if (lease?.nodes.size === 0) this.#leases.delete(id);
  }

  #learn(lease: Lease, seconds: number): void {
    const now = this.#options.clock.monotonic();
    lease.ends = now + seconds * 1000;
    lease.due = now + Math.max(TICK, seconds * 500);
  }

  #schedule(wait: number): void {
    const isDue = wait <= 0;
    if (this.#timer !== undefined && (!isDue || this.#isDue)) return;
    this.#timer?.cancel();
    this.#isDue = isDue;
    this.#timer = this.#options.clock.after(isDue ? 0 : TICK, () => {
      this.#timer = undefined;
      this.#askDue();
      if (this.#leases.size > 0) this.#schedule(TICK);
    });
  }

  #askDue(): void {
    const now = this.#options.clock.monotonic();
    for (const [id, lease] of this.#leases) {
      if (this.#questions >= MAX_QUESTIONS) return;
      if (lease.due > now || lease.isAsked) continue;
      lease.isAsked = true;
      this.#questions += 1;
      void this.#ask(id, lease);
    }
  }

  async #ask(id: string, lease: Lease): Promise<void> {
    try {
      const seconds = await this.#options.ask(id);
      this.#learn(lease, seconds);
      if (this.#leases.get(id) === lease) this.#options.onKnown(lease.nodes);
    } catch {
      // Without an answer the known time stays in use, and the query is repeated.
      lease.due = this.#options.clock.monotonic() + TICK;
    } finally {
      lease.isAsked = false;
      this.#questions -= 1;
      if (this.#questions === MAX_QUESTIONS - 1) this.#askDue();
    }
  }
}
