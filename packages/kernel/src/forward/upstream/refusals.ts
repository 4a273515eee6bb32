/**
 * How long a server that the network refuses may still be restarting.
 */
/** Network errors of a server that may return soon. */
const REFUSALS: ReadonlySet<string> = new Set(
  'ECONNREFUSED EHOSTUNREACH EHOSTDOWN ENETUNREACH ENETDOWN ETIMEDOUT'.split(' '),
);
/** Milliseconds for the return of a server that has answered before, and of one that never has. */
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

  /** The network refused a query. @param now by the clock's monotonic time, also below */
  noteRefused(now: number): void {
    this.#since ??= now;
  }

  /** Milliseconds left; 0: it has been refusing for too long. */
  patience(now: number): number {
    const all = this.#isKnown ? PATIENCE : PATIENCE_WITH_STRANGER;
    return this.#since === undefined ? all : Math.max(0, this.#since + all - now);
  }
}
