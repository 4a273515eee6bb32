/**
 * How many queries a server answers on one connection, at a time and in all, as its connections have shown.
 *
 * A client may send queries without waiting for replies (RFC 7766 section 6.2.1.1). Some servers answer one query and
 * close, discard what came meanwhile, or answer slowly, one after the other. So a server gets one query at a time on
 * each connection, until a *trial* shows more: two copies of a query, together on a connection of their own, so that no
 * client waits for the result. From then on the depth doubles with the replies that came as fast as to queries alone.
 */
import { QueryBound } from './query-bound.ts';

/** A reply, as its connection has seen it. Times in milliseconds. */
export interface TimedReply {
  /** Since its query was sent on an open connection. */
  readonly elapsed: number;
  /** Since the query was sent, or since the reply before it on this connection if that came later. */
  readonly gap: number;
  /** Whether other queries were in flight on the connection when its query was sent. */
  readonly isBehind: boolean;
  /** Whether the reply to a later query came before. */
  readonly isOvertaken: boolean;
}

/** Queries in flight on one connection that are never exceeded while others are possible. */
export const FULL_DEPTH = 128;
/** The depth after a trial. */
const FIRST_DEPTH = 4;
/** Milliseconds until the next trial: doubled by each that fails. */
const FIRST_HOLD = 1000;
const MAX_HOLD = 300_000;
/** A reply is slow if queries before it held it back for longer. */
const SLOW_MILLISECONDS = 5;
const TRIAL_MILLISECONDS = 2;
/** Fast replies that outweigh a slow one; slow ones in a row that end pipelining. */
const SLOW_WEIGHT = 8;
const MAX_SLOW = 3;

export class PipelineDepth {
  #depth = 1;
  #credit = 0;
  /** Whether the server works on several queries of a connection at once: then a slow reply holds no other back. */
  #isParallel = false;
  /** The smoothed time of replies to queries that were alone. */
  #alone: number | undefined;
  #trialAt = Number.NEGATIVE_INFINITY;
  #hold = FIRST_HOLD;
  readonly #bound = new QueryBound();

  /** Queries in flight on one connection, 1 to `FULL_DEPTH`. */
  get depth(): number {
    return this.#depth;
  }

  /** Queries that one connection may carry in all, from 1; infinite: no bound is known. @param now milliseconds of a clock that never goes back */
  maxQueries(now: number): number {
    return this.#bound.max(now);
  }

  /** Whether to begin a trial. */
  takeTrial(now: number): boolean {
    if (this.#depth > 1 || now < this.#trialAt) return false;
    this.#trialAt = now + this.#hold;
    this.#hold = Math.min(2 * this.#hold, MAX_HOLD);
    return true;
  }

  /**
   * Both copies of a trial were answered.
   *
   * @param first milliseconds until the first reply
   * @param gap milliseconds from there to the second
   */
  noteTrial(first: number, gap: number): void {
    if (gap > Math.max(TRIAL_MILLISECONDS, first / 4) || this.#depth > 1) return;
    this.#depth = FIRST_DEPTH;
    this.#credit = 0;
  }

  noteReply({ elapsed, gap, isBehind, isOvertaken }: TimedReply): void {
    this.#isParallel ||= isOvertaken;
    if (!isBehind) {
      this.#alone = this.#alone === undefined ? elapsed : this.#alone + (elapsed - this.#alone) / 8;
      return;
    }
    const excess = elapsed - (this.#alone ?? elapsed);
    const isSlow = !this.#isParallel && gap > SLOW_MILLISECONDS && excess > SLOW_MILLISECONDS;
    this.#credit = Math.min(this.#credit, this.#depth) + (isSlow ? -SLOW_WEIGHT : 1);
    if (this.#credit <= -SLOW_WEIGHT * MAX_SLOW) this.#shrinkTo(1);
    else if (this.#credit >= this.#depth && this.#depth < FULL_DEPTH) this.#grow();
  }

  /**
   * The server has closed a connection with queries in flight.
   *
   * @param answered those that it had answered on it
   * @param idle milliseconds from its last reply to the next query
   */
  noteClosed(answered: number, idle: number, now: number): void {
    if (this.#bound.noteClosed(answered, idle, now)) this.#shrinkTo(Math.max(1, answered));
  }

  /** Another thread has lost a query with its connection. */
  noteLostElsewhere(): void {
    this.#shrinkTo(this.#depth / 2);
  }

  #grow(): void {
    this.#depth *= 2;
    this.#credit = 0;
    if (this.#depth === FULL_DEPTH) this.#hold = FIRST_HOLD;
  }

  #shrinkTo(depth: number): void {
    if (depth < 1 || depth >= this.#depth) return;
    // A power of two, as growth makes it.
    this.#depth = 2 ** Math.floor(Math.log2(depth));
    this.#credit = 0;
  }
}
