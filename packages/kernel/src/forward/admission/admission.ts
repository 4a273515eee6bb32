/**
 * Admission of questions to upstream servers: decides which start now, wait or are refused, so that one client's burst
 * does not starve the others.
 *
 * Up to `inFlight` questions are in flight. While more than a quarter of the places is free, a client may have any
 * number of them; the last quarter is for clients below `perClient`. Other questions wait in a queue per client, served
 * round robin. When all queues together are full, the oldest question of the client with the most waiting is refused,
 * or the new one if its own client has the most.
 */
import type { Clock, Timer } from '../../base/clock.ts';
import { QuestionsByClient } from './questions-by-client.ts';

/** Bounds for each group of servers: a group that does not answer does not affect the others. */
export interface AdmissionLimits {
  /** Maximum of queries in flight; equal ones count once. */
  readonly inFlight: number;
  /** Maximum in flight for one client while no more than a quarter is free. */
  readonly perClient: number;
  /** Maximum of queries that wait to be started. */
  readonly queued: number;
  /** Milliseconds until a waiting query is refused. */
  readonly queueDeadline: number;
}

export interface Ticket<Work> {
  client: string;
  readonly work: Work;
  state: 'waiting' | 'running' | 'over';
  /** By the clock's monotonic time. */
  readonly expiresAt: number;
}

export interface AdmissionStatistics {
  readonly running: number;
  readonly waiting: number;
  /** Questions refused because all queues were full, or after `queueDeadline`. */
  readonly refused: number;
}

export interface AdmissionEvents<Work> {
  /** Called at most once for each work; call `leave` when the work is done. */
  run(work: Work): void;
  /** Called instead of `run`. */
  refuse(work: Work): void;
}

/** Queries of other threads to the same servers. */
export interface OtherThreads {
  readonly running: number;
  countRunning(client: string): number;
  /** Reports how many this thread has in flight. */
  publish(running: number): void;
}

export class Admission<Work> {
  readonly #clock: Clock;
  readonly #events: AdmissionEvents<Work>;
  #limits: AdmissionLimits;
  /** Questions in flight. */
  readonly #running = new QuestionsByClient();
  readonly #waiting = new ClientTally();
  /** By client, the next to be served first; each queue has the oldest question first. */
  readonly #queues = new Map<string, Set<Ticket<Work>>>();
  /** All waiting questions, the oldest first. */
  readonly #all = new Set<Ticket<Work>>();
  #runningCount = 0;
  #refused = 0;
  #expiry: Timer | undefined;
  #others: OtherThreads | undefined;

  constructor(limits: AdmissionLimits, clock: Clock, events: AdmissionEvents<Work>) {
    this.#limits = limits;
    this.#events = events;
    this.#clock = clock;
  }

  /** Changes the bounds for later questions. */
  limit(limits: AdmissionLimits): void {
    this.#limits = limits;
    this.#startNext();
  }

  /** Questions in flight or waiting. */
  get size(): number {
    return this.#runningInAll() + this.#all.size;
  }

  /** Includes the queries of other threads from now on; undefined: there are no other threads. */
  countOthers(others: OtherThreads | undefined): void {
    this.#others = others;
    others?.publish(this.#runningCount);
  }

  get hasWaiting(): boolean {
    return this.#all.size > 0;
  }

  /** Call it when other threads may have fewer in flight. */
  resume(): void {
    if (this.#all.size > 0) this.#startNext();
  }

  statistics(): AdmissionStatistics {
    return { running: this.#runningInAll(), waiting: this.#all.size, refused: this.#refused };
  }

  /**
   * Requests admission. `run` or `refuse` may be called before it returns.
   *
   * @param isUnderWay whether it continues what another thread has begun: it starts at once
   */
  enter(client: string, work: Work, isUnderWay = false): Ticket<Work> {
    const expiresAt = this.#clock.monotonic() + this.#limits.queueDeadline;
    const ticket: Ticket<Work> = { client, work, state: 'waiting', expiresAt };
    if (isUnderWay || this.mayRun(client)) this.#start(ticket);
    else this.#queue(ticket);
    return ticket;
  }

  /** Another client waits for the same question: charges the question to the client with fewer questions. */
  share(ticket: Ticket<Work>, client: string): void {
    if (ticket.state !== 'waiting' || this.#load(client) >= this.#load(ticket.client)) return;
    this.#unqueue(ticket);
    ticket.client = client;
    if (this.mayRun(client)) this.#start(ticket);
    else this.#enqueue(ticket);
  }

  /** Call it when the work of a ticket that ran is done. */
  leave(ticket: Ticket<Work>): void {
    if (ticket.state !== 'running') return;
    ticket.state = 'over';
    this.#runningCount -= 1;
    this.#others?.publish(this.#runningCount);
    this.#running.subtract(ticket.client);
    this.#startNext();
  }

  /** Refuses all waiting questions. */
  stop(): void {
    this.#expiry?.cancel();
    for (const ticket of [...this.#all]) this.#refuse(ticket);
  }

  /** Whether a question of this client would start at once. */
  mayRun(client: string): boolean {
    const { inFlight, perClient } = this.#limits;
    const free = inFlight - this.#runningInAll();
    if (free <= 0) return false;
    if (free > inFlight >> 2) return true;
    return this.#running.count(client) + (this.#others?.countRunning(client) ?? 0) < perClient;
  }

  #runningInAll(): number {
    return this.#runningCount + (this.#others?.running ?? 0);
  }

  #load(client: string): number {
    return this.#running.count(client) + this.#waiting.count(client);
  }

  #start(ticket: Ticket<Work>): void {
    ticket.state = 'running';
    this.#runningCount += 1;
    this.#others?.publish(this.#runningCount);
    this.#running.add(ticket.client);
    this.#events.run(ticket.work);
  }

  #queue(ticket: Ticket<Work>): void {
    this.#enqueue(ticket);
    if (this.#all.size <= this.#limits.queued) return;
    const busiest = this.#waiting.busiest();
    const isBusier =
      busiest !== undefined && this.#waiting.count(busiest) > this.#waiting.count(ticket.client);
    const [oldest = ticket] = isBusier ? (this.#queues.get(busiest) ?? []) : [];
    this.#refuse(oldest);
  }

  #enqueue(ticket: Ticket<Work>): void {
    const queue = this.#queues.get(ticket.client);
    if (queue === undefined) this.#queues.set(ticket.client, new Set([ticket]));
    else queue.add(ticket);
    this.#waiting.add(ticket.client);
    this.#all.add(ticket);
    this.#expiry ??= this.#clock.after(ticket.expiresAt - this.#clock.monotonic(), () => this.#expire());
  }

  #unqueue(ticket: Ticket<Work>): void {
    const queue = this.#queues.get(ticket.client);
    queue?.delete(ticket);
    if (queue?.size === 0) this.#queues.delete(ticket.client);
    this.#waiting.subtract(ticket.client);
    this.#all.delete(ticket);
  }

  #refuse(ticket: Ticket<Work>): void {
    this.#unqueue(ticket);
    ticket.state = 'over';
    this.#refused += 1;
    this.#events.refuse(ticket.work);
  }

  #expire(): void {
    this.#expiry = undefined;
    const now = this.#clock.monotonic();
    for (const ticket of [...this.#all]) if (ticket.expiresAt <= now) this.#refuse(ticket);
    if (this.#all.size === 0) return;
    const next = Math.min(...Array.from(this.#all, ({ expiresAt }) => expiresAt));
    this.#expiry ??= this.#clock.after(next - now, () => this.#expire());
  }

  /** Starts waiting questions, one client after the other. */
  #startNext(): void {
    for (let ticket = this.#nextTicket(); ticket !== undefined; ticket = this.#nextTicket()) {
      this.#unqueue(ticket);
      // A client that was served goes to the end.
      const rest = this.#queues.get(ticket.client);
      if (rest !== undefined) {
        this.#queues.delete(ticket.client);
        this.#queues.set(ticket.client, rest);
      }
      this.#start(ticket);
    }
  }

  #nextTicket(): Ticket<Work> | undefined {
    if (this.#runningInAll() >= this.#limits.inFlight) return undefined;
    for (const [client, [oldest]] of this.#queues)
      if (oldest !== undefined && this.mayRun(client)) return oldest;
    return undefined;
  }
}

/**
 * Counts questions per client and finds the client with the most, both in constant time: it is needed under overload.
 *
 * Clients with equal counts share a set, and a count changes only by one.
 */
export class ClientTally {
  readonly #counts = new Map<string, number>();
  /** `#groups[n]`: the clients with n questions, in the order in which they joined the set. */
  readonly #groups: Set<string>[] = [];
  #most = 0;

  count(client: string): number {
    return this.#counts.get(client) ?? 0;
  }

  add(client: string): void {
    const count = this.count(client);
    this.#move(client, count, count + 1);
    this.#most = Math.max(this.#most, count + 1);
  }

  subtract(client: string): void {
    const count = this.count(client);
    if (count === 0) return;
    this.#move(client, count, count - 1);
    while (this.#most > 0 && this.#group(this.#most).size === 0) this.#most -= 1;
  }

  /** A client with the highest count. */
  busiest(): string | undefined {
    for (const client of this.#group(this.#most)) return client;
    return undefined;
  }

  #move(client: string, from: number, to: number): void {
    this.#group(from).delete(client);
    if (to === 0) {
      this.#counts.delete(client);
      return;
    }
    this.#counts.set(client, to);
    this.#group(to).add(client);
  }

  #group(count: number): Set<string> {
    let group = this.#groups[count];
    while (group === undefined) {
      this.#groups.push(new Set());
      group = this.#groups[count];
    }
    return group;
  }
}
