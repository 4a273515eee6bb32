/**
 * Whose turn it is: clients that wait for the main thread are served in turn, by deficit round robin on the time that
 * their work took.
 *
 * Each client has a queue of its own and a balance of microseconds. At its turn the balance grows by `QUANTUM`, and its
 * work is served until the balance is used up. The cost of work is known only afterwards, so a client may overdraw its
 * balance; it then misses turns until the debt is paid. So n other clients multiply the wait of a client by n + 1 at
 * most, whatever their work costs, if a wait has at least the length of a quantum and one batch.
 *
 * Work may have a time from which nobody waits for it any more. It is then dropped at its client's turn. A client whose
 * oldest work has waited for long gets its newest work done first: the old one is hardly ever done in time, and would
 * make the new one late too.
 */
import { TransientMap } from '../base/transient-map.ts';

/** Microseconds that a turn adds to a balance. */
export const QUANTUM = 250;
/** Microseconds that a client can owe. Time is wall time, so a busy machine also makes work of the innocent look dear. */
export const MAX_DEBT = 20_000;
/** Maximum of works in one batch, whose costs are measured together. */
export const BATCH = 6;
/** Of the expected cost of a client's work, from batch to batch. */
const FALL = 0.9;
/** Milliseconds that the oldest work of a client waits until its newest work comes first: clients ask again after a second or more. */
export const CROWDED = 200;

/** Work that may have a limit of time, in milliseconds of the clock that `take` is called with. */
export interface LimitedWork {
  /** When it came. */
  readonly arrived?: number;
  /** From when on nobody waits for it. Default: never. */
  readonly expires?: number;
}

interface TurnAccount<Work> {
  readonly client: string;
  readonly works: Work[];
  /** The place of the oldest work in `works`. */
  next: number;
  /** Microseconds; negative: it owes them. */
  balance: number;
  /** The expected cost of one work, in microseconds. */
  expected: number;
  /** The account that comes after it in the round. */
  after: TurnAccount<Work> | undefined;
}

export class DeficitRoundRobin<Work extends LimitedWork> {
  readonly #onExpired: (work: Work) => void;
  /** Clients that have work or debts. */
  readonly #accounts = new TransientMap<string, TurnAccount<Work>>();
  /** The same clients in the order of their turns, without the one whose turn it is. */
  readonly #round = new TurnRound<Work>();
  #turn: TurnAccount<Work> | undefined;
  /** How many works were taken last. */
  #taken = 0;
  #waiting = 0;

  /** @param onExpired called for work that is dropped since nobody waits for it any more */
  constructor(onExpired: (work: Work) => void = () => {}) {
    this.#onExpired = onExpired;
  }

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
    const account: TurnAccount<Work> = {
      client,
      works: [work],
      next: 0,
      balance: 0,
      expected: QUANTUM,
      after: undefined,
    };
    this.#accounts.set(client, account);
    this.#round.add(account);
  }

  /**
   * Takes some works of the client whose turn it is. Call `charge` when they are done, before the next call.
   *
   * @param now milliseconds, for works with a limit of time
   * @returns none if nobody waits
   */
  take(now = 0): readonly Work[] {
    while (this.#waiting > 0) {
      const account = this.#turn ?? this.#begin();
      this.#expire(account, now);
      const waiting = account.works.length - account.next;
      if (account.balance > 0 && waiting > 0) return this.#takeFrom(account, waiting, now);
      this.#turn = undefined;
      if (waiting === 0 && account.balance >= 0) this.#accounts.delete(account.client);
      else this.#round.add(account);
    }
    this.#forgive();
    return NOTHING;
  }

  /** Takes out the oldest work of a client that has a limit of time, to make room. @returns undefined: it has none */
  takeOut(client: string): Work | undefined {
    const account = this.#accounts.get(client);
    if (account === undefined) return undefined;
    const { works, next } = account;
    let at = next;
    while (at < works.length && works[at]?.expires === undefined) at += 1;
    const work = works[at];
    if (work === undefined) return undefined;
    if (at === next) account.next += 1;
    else works.splice(at, 1);
    this.#waiting -= 1;
    trim(account);
    return work;
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

  /** Drops the oldest works as far as nobody waits for them. */
  #expire(account: TurnAccount<Work>, now: number): void {
    const { works } = account;
    for (let work = works[account.next]; work !== undefined; work = works[account.next]) {
      if (work.expires === undefined || work.expires > now) break;
      account.next += 1;
      this.#waiting -= 1;
      this.#onExpired(work);
    }
    trim(account);
  }

  #takeFrom(account: TurnAccount<Work>, waiting: number, now: number): readonly Work[] {
    const affordable = Math.max(1, Math.min(BATCH, Math.floor(account.balance / account.expected)));
    const count = Math.min(waiting, affordable);
    const { works, next } = account;
    const oldest = works[next]?.arrived ?? now;
    const isCrowded = now - oldest > CROWDED;
    const taken = isCrowded ? works.splice(works.length - count).reverse() : works.slice(next, next + count);
    if (!isCrowded) account.next += count;
    trim(account);
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
    this.#round.clear();
    this.#turn = undefined;
  }
}

/** A queue. An account clears its link when it leaves, so that one in the old generation keeps no other. */
class TurnRound<Work> {
  #first: TurnAccount<Work> | undefined;
  #last: TurnAccount<Work> | undefined;

  add(account: TurnAccount<Work>): void {
    if (this.#last === undefined) this.#first = account;
    else this.#last.after = account;
    this.#last = account;
  }

  take(): TurnAccount<Work> | undefined {
    const first = this.#first;
    if (first === undefined) return undefined;
    this.#first = first.after;
    if (this.#first === undefined) this.#last = undefined;
    first.after = undefined;
    return first;
  }

  clear(): void {
    this.#first = undefined;
    this.#last = undefined;
  }
}

const NOTHING: readonly never[] = [];
/** Served works at the front of a queue before it is shortened: rarely, since all others move. */
const COMPACTED = 1024;

function trim(account: TurnAccount<unknown>): void {
  if (account.next === account.works.length) account.works.length = 0;
  else if (account.next < COMPACTED) return;
  else account.works.splice(0, account.next);
  account.next = 0;
}
