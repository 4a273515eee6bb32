/**
 * Whose turn it is: clients that wait for the main thread are served in turn, by deficit round robin on the time that
 * their work took.
 *
 * Each client has a queue of its own and a balance of microseconds. At its turn the balance grows by `QUANTUM`, and its
 * work is served until the balance is used up. The cost of work is known only afterwards, so a client may overdraw its
 * balance; it then misses turns until the debt is paid. So n other clients multiply the wait of a client by n + 1 at
 * most, whatever their work costs, if a wait has at least the length of a quantum and one batch.
 */
import { WorkQueue } from '../base/work-queue.ts';

/** Microseconds that a turn adds to a balance. */
export const QUANTUM = 250;
/** Microseconds that a client can owe. Time is wall time, so a busy machine also makes work of the innocent look dear. */
export const MAX_DEBT = 20_000;
/** Maximum of works in one batch, whose costs are measured together. */
export const BATCH = 6;
/** Of the expected cost of a client's work, from batch to batch. */
const FALL = 0.9;

interface TurnAccount<Work> {
  readonly client: string;
  readonly works: Work[];
  /** The place of the oldest work in `works`. */
  next: number;
  /** Microseconds; negative: it owes them. */
  balance: number;
  /** The expected cost of one work, in microseconds. */
  expected: number;
}

export class ClientTurns<Work> {
  /** Clients that have work or debts. */
  readonly #accounts = new Map<string, TurnAccount<Work>>();
  /** The same clients in the order of their turns, without the one whose turn it is. */
  #round = new WorkQueue<TurnAccount<Work>>();
  #turn: TurnAccount<Work> | undefined;
  /** How many works were taken last. */
  #taken = 0;
  #waiting = 0;

  /** Works of all clients. */
  get waiting(): number {
    return this.#waiting;
  }

  add(client: string, work: Work): void {
    this.#waiting += 1;
    const known = this.#accounts.get(client);
    if (known !== undefined) {
      known.works.push(work);
      return;
    }
    const account: TurnAccount<Work> = { client, works: [work], next: 0, balance: 0, expected: QUANTUM };
    this.#accounts.set(client, account);
    this.#round.add(account);
  }

  /**
   * Takes some works of the client whose turn it is. Call `charge` when they are done, before the next call.
   *
   * @returns none if nobody waits
   */
  take(): readonly Work[] {
    if (this.#waiting === 0) {
      this.#forgive();
      return NOTHING;
    }
    for (;;) {
      const account = this.#turn ?? this.#begin();
      const waiting = account.works.length - account.next;
      if (account.balance > 0 && waiting > 0) return this.#takeFrom(account, waiting);
      this.#turn = undefined;
      if (waiting === 0 && account.balance >= 0) this.#accounts.delete(account.client);
      else this.#round.add(account);
    }
  }

  /** @param microseconds that the works taken last have cost */
  charge(microseconds: number): void {
    const account = this.#turn;
    if (account === undefined || this.#taken === 0) return;
    account.balance = Math.max(-MAX_DEBT, account.balance - microseconds);
    // Falls slowly, so that dear work between cheap work is seldom taken in a large batch.
    account.expected = Math.max(microseconds / this.#taken, account.expected * FALL, 1);
    this.#taken = 0;
  }

  #takeFrom(account: TurnAccount<Work>, waiting: number): readonly Work[] {
    const affordable = Math.max(1, Math.min(BATCH, Math.floor(account.balance / account.expected)));
    const count = Math.min(waiting, affordable);
    const taken = account.works.slice(account.next, account.next + count);
    account.next += count;
    if (account.next === account.works.length) {
      account.works.length = 0;
      account.next = 0;
    } else if (account.next >= COMPACTED) {
      account.works.splice(0, account.next);
      account.next = 0;
    }
    this.#waiting -= count;
    this.#taken = count;
    return taken;
  }

  #begin(): TurnAccount<Work> {
    const account = this.#round.take();
    // Somebody waits, and all that wait are in the round.
    if (account === undefined) throw new Error('clients wait, and none has a turn');
    account.balance = Math.min(QUANTUM, account.balance + QUANTUM);
    this.#turn = account;
    return account;
  }

  /** Debts last while somebody waits. */
  #forgive(): void {
    if (this.#accounts.size === 0) return;
    this.#accounts.clear();
    this.#round = new WorkQueue();
    this.#turn = undefined;
  }
}

const NOTHING: readonly never[] = [];
/** Served works at the front of a queue before it is shortened: rarely, since all others move. */
const COMPACTED = 1024;
