/**
 * How many queries a server answers on one connection before it closes it, as its connections have shown.
 */

/** Milliseconds for which no server closes a connection only because it is idle. */
const MAX_IDLE = 100;
/** Milliseconds for which a bound is believed. */
const BOUND_LIFETIME = 600_000;

export class QueryBound {
  /** Queries that the connection answered which the server closed last. */
  #answered = 0;
  #max = Number.POSITIVE_INFINITY;
  #until = 0;

  /** Queries that one connection may carry in all, from 1; infinite: no bound is known. @param now milliseconds of a clock that never goes back */
  max(now: number): number {
    return now < this.#until ? this.#max : Number.POSITIVE_INFINITY;
  }

  /**
   * The server has closed a connection. Two that answered as many show a bound.
   *
   * @param answered queries that it had answered on it
   * @param idle milliseconds from its last reply to the next query, or until it was known to be closed
   * @returns whether it can have been closed for another reason than being idle
   */
  noteClosed(answered: number, idle: number, now: number): boolean {
    if (idle > MAX_IDLE) return false;
    if (answered > 0 && answered === this.#answered) {
      this.#max = answered;
      this.#until = now + BOUND_LIFETIME;
    }
    this.#answered = answered;
    return true;
  }
}
