/**
 * For how long a server that the network refuses may be one that restarts.
 */
/** What the network says of a server that may be there in a moment. */
const REFUSALS: ReadonlySet<string> = new Set(
  'ECONNREFUSED EHOSTUNREACH EHOSTDOWN ENETUNREACH ENETDOWN ETIMEDOUT'.split(' '),
);
/** Milliseconds that a server has to come back which has answered before, and one of which nothing was ever heard. */
const PATIENCE = 1500;
const PATIENCE_WITH_STRANGER = 400;

export function isRefusal(code: string): boolean {
  return REFUSALS.has(code);
}

export class Refusals {
  #since: number | undefined;
  #isKnown = false;

  /** A reply came. */
  noteHeard(): void {
    this.#isKnown = true;
    this.#since = undefined;
  }

  /** The network has refused a query. @param now of the clock's monotonic time, like its neighbour */
  noteRefused(now: number): void {
    this.#since ??= now;
  }

  /** Milliseconds that are left; 0: it has been refusing for too long. */
  patience(now: number): number {
    const all = this.#isKnown ? PATIENCE : PATIENCE_WITH_STRANGER;
    return this.#since === undefined ? all : Math.max(0, this.#since + all - now);
  }
}
