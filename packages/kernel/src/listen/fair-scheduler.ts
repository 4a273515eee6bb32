/**
 * The time of the main thread: what clients cost it is done in turns, a client at a time, with other work in between.
 *
 * After a turn the event loop goes on: it takes in questions, replies and changes. Work often goes on in microtasks, as
 * promises do. So its cost is measured when all of them are done: a tick that a microtask asks for comes after them.
 */
import { systemClock } from '../base/clock.ts';
import { BATCH, DeficitRoundRobin, type LimitedWork } from './deficit-round-robin.ts';

/**
 * Milliseconds and works until the event loop goes on. Clients wait for about two such rounds, and for the replies that come between.
 * Without the bound on works, more of a flood would come first, the cheaper its questions are.
 */
const ROUND = { milliseconds: 0.5, works: BATCH };

/** What a client costs the main thread. Its times are those of the monotonic clock. */
export interface Work extends LimitedWork {
  /** Does it, or begins it. Never throws. */
  serve(): void;
  /** Called in place of `serve`. @param why `late`: nobody waits for it any more. `full`: newer work needs its place */
  drop?(why: 'late' | 'full'): void;
}

/** What brings work. */
export interface WorkSource {
  /** Called before each turn: bring work that is there already, and give back what is done. */
  beforeTurn(): void;
  /** Called when there is no more work: no turn comes until `add` is called. */
  onIdle(): void;
}

export class FairScheduler {
  readonly #turns = new DeficitRoundRobin<Work>((work) => work.drop?.('late'));
  readonly #now: () => number;
  readonly #sources = new Set<WorkSource>();
  #isScheduled = false;
  /** When the round ends. */
  #end = 0;
  /** Works until it ends. */
  #left = 0;
  /** When the current works began. */
  #began = 0;

  /** @param now milliseconds with fractions of the monotonic clock */
  constructor(now: () => number = systemClock.monotonic) {
    this.#now = now;
  }

  /** Works that have not begun. */
  get waiting(): number {
    return this.#turns.waiting;
  }

  /** Listeners send their answers and take in questions before others are served. */
  join(source: WorkSource): void {
    this.#sources.add(source);
  }

  leave(source: WorkSource): void {
    this.#sources.delete(source);
  }

  /** Does work when it is the client's turn. @param client its address */
  add(client: string, work: Work): void {
    this.#turns.add(client, work);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#begin);
  }

  /** Drops the oldest work of a client that has a limit of time. @returns whether it had one */
  dropOldest(client: string): boolean {
    const work = this.#turns.takeOut(client);
    work?.drop?.('full');
    return work !== undefined;
  }

  /**
   * Settles when it is the client's turn.
   *
   * @param client its address
   * @param patience milliseconds from now until nobody waits for the work any more. Default: it is waited for
   * @returns whether the work is to be done; if not, why
   */
  waitForTurn(client: string, patience?: number): Promise<'serve' | 'late' | 'full'> {
    const arrived = this.#now();
    const limit = patience === undefined ? {} : { arrived, expires: arrived + patience };
    return new Promise((resolve) =>
      this.add(client, { ...limit, serve: () => resolve('serve'), drop: resolve }),
    );
  }

  readonly #begin = (): void => {
    for (const source of this.#sources) source.beforeTurn();
    this.#began = this.#now();
    this.#end = this.#began + ROUND.milliseconds;
    this.#left = ROUND.works;
    this.#serve();
  };

  #serve(): void {
    const works = this.#turns.take(this.#began);
    this.#left -= works.length;
    if (works.length === 0) {
      this.#isScheduled = false;
      for (const source of this.#sources) source.onIdle();
      return;
    }
    try {
      for (const work of works) work.serve();
    } finally {
      // Work that throws is a defect of this program, and must not end the turns of others.
      queueMicrotask(this.#awaitMicrotasks);
    }
  }

  readonly #awaitMicrotasks = (): void => {
    process.nextTick(this.#account);
  };

  readonly #account = (): void => {
    const now = this.#now();
    this.#turns.charge((now - this.#began) * 1000);
    this.#began = now;
    if ((now < this.#end && this.#left > 0) || this.#turns.waiting === 0) this.#serve();
    else setImmediate(this.#begin);
  };
}

/** Those of this process: it has one main thread. */
export const fairScheduler = new FairScheduler();
