/**
 * Events of queries that wait until somebody has time for them, in bounded memory.
 */
import type { QueryEvent } from '@portolan/kernel/listen/query-events/event-reader.ts';
import type { TapListener } from '@portolan/kernel/listen/query-events/event-tap.ts';

/** Events that wait until they are described. Others are counted as lost, so that queries do not wait. */
const MAX_WAITING = 5_000;

/** Events to describe before other work. */
const PART = 100;

/** The events one by one. After each hundred, other work of the main thread has its turn. */
export async function* inParts(events: readonly QueryEvent[]): AsyncIterable<QueryEvent> {
  for (const [index, event] of events.entries()) {
    yield event;
    if (index % PART === PART - 1) await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Events of one reading, or of several. */
interface EventBatch {
  readonly events: readonly QueryEvent[];
  readonly lost: number;
}

export interface CollectedEvents {
  /** For those that are collected. Default: all. */
  readonly isWanted?: (event: QueryEvent) => boolean;
  /** Of those that wait. */
  readonly max?: number;
}

/** Collects events between two readings. */
export class WaitingEvents {
  readonly #endFollowing: () => void;
  readonly #signal: AbortSignal;
  #events: QueryEvent[] = [];
  #lost = 0;
  #wake: () => void = () => {};
  #hasEnded = false;

  /** @param follow calls a listener with events until the function that it returns is called */
  constructor(
    follow: (listener: TapListener) => () => void,
    signal: AbortSignal,
    { isWanted = () => true, max = MAX_WAITING }: CollectedEvents = {},
  ) {
    this.#signal = signal;
    signal.addEventListener('abort', () => this.#wake());
    this.#endFollowing = follow((all, lost) => {
      const events = all.filter(isWanted);
      const room = Math.max(0, max - this.#events.length);
      this.#events.push(...events.slice(0, room));
      this.#lost += lost + Math.max(0, events.length - room);
      this.#wake();
    });
  }

  /**
   * Until the client leaves or, once `end` was called, nothing waits.
   *
   * @param wakeIn calls back after the longest pause between two batches; default: no such bound
   */
  async *batches(wakeIn?: (run: () => void) => { cancel(): void }): AsyncIterable<EventBatch> {
    while (!this.#signal.aborted) {
      if (this.#isEmpty) {
        if (this.#hasEnded) return;
        await new Promise<void>((resolve) => {
          const timer = wakeIn?.(resolve);
          this.#wake = () => {
            timer?.cancel();
            resolve();
          };
        });
      }
      const batch = { events: this.#events, lost: this.#lost };
      this.#events = [];
      this.#lost = 0;
      if (!this.#signal.aborted) yield batch;
    }
  }

  /** Collects no more. */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#endFollowing();
    this.#wake();
  }

  get #isEmpty(): boolean {
    return this.#events.length === 0 && this.#lost === 0;
  }
}
