/**
 * The reader's part of steering packets: while all of a port come to one reader, it says when they are too many.
 *
 * Shared words: 0 mode, one of `STEERING`. Behind them a double: the packets a second that were too many.
 */
import { waitAsync } from '../base/wait-async.ts';
import { steerPort } from '../socket/port-steering.ts';

/** BY_CLIENT: the kernel spreads packets by client. ONE: one reader gets all. RANDOM: each reader gets its share. */
export const STEERING = { BY_CLIENT: 0, ONE: 1, RANDOM: 2 } as const;

const MODE = 0;
const RATE_AT = 8;

/** Batches of one reader that are looked at together, and how many packets on average are too many. */
const WINDOW = 32;
const MAX_PACKETS = 16;
/** So many batches in a row that are as large as can be are too many at once: more than a burst of a client, or a late wake-up. */
const MAX_FULL_IN_ROW = 8;
/** A batch of so many packets is as large as can be, or nearly. */
const FULL = 60;

export function makeSteeringWords(): SharedArrayBuffer {
  return new SharedArrayBuffer(RATE_AT + Float64Array.BYTES_PER_ELEMENT);
}

/** What readers and the main thread know in common. */
export class SteeringWords {
  readonly #words: Int32Array;
  readonly #rate: Float64Array;

  constructor(memory: SharedArrayBuffer) {
    this.#words = new Int32Array(memory, 0, 1);
    this.#rate = new Float64Array(memory, RATE_AT, 1);
  }

  /** One of `STEERING`. A reader may see a change a moment late. */
  get mode(): number {
    return this.#words[MODE] ?? STEERING.BY_CLIENT;
  }

  set mode(mode: number) {
    Atomics.store(this.#words, MODE, mode);
    Atomics.notify(this.#words, MODE);
  }

  /** The packets a second that the reader had which got all. */
  get rate(): number {
    return this.#rate[0] ?? 0;
  }

  /** Ends mode ONE. @returns whether it held until now */
  leaveOne(rate: number): boolean {
    if (Atomics.compareExchange(this.#words, MODE, STEERING.ONE, STEERING.BY_CLIENT) !== STEERING.ONE)
      return false;
    this.#rate[0] = rate;
    return true;
  }

  notify(): void {
    Atomics.notify(this.#words, MODE);
  }

  /** Settles when the mode is no longer ONE; undefined: it is not. */
  untilLeft(): Promise<unknown> | undefined {
    return waitAsync(this.#words, MODE, STEERING.ONE);
  }
}

export class ReaderSteering {
  readonly #words: SteeringWords;
  readonly #sockets: readonly number[];
  readonly #window = new Batches();
  /** Those that were full, one after the other. */
  readonly #fullRow = new Batches();

  /** @param sockets descriptors of the reader's sockets, one for each address */
  constructor(memory: SharedArrayBuffer, sockets: readonly number[]) {
    this.#words = new SteeringWords(memory);
    this.#sockets = sockets;
  }

  /** Notes a batch. @param now of the clock's monotonic time, when its packets had come */
  note(packets: number, now: number): void {
    if (this.#words.mode !== STEERING.ONE) {
      this.#window.begin(now);
      this.#fullRow.begin(now);
      return;
    }
    this.#window.add(packets);
    if (packets < FULL) this.#fullRow.begin(now);
    else this.#fullRow.add(packets);
    if (this.#fullRow.batches >= MAX_FULL_IN_ROW) this.#spread(this.#fullRow.rateAt(now));
    else if (this.#window.batches >= WINDOW) {
      if (this.#window.packets > MAX_PACKETS * WINDOW) this.#spread(this.#window.rateAt(now));
      this.#window.begin(now);
    }
  }

  /** That is right whatever readers there are; the main thread may know better ways. */
  #spread(rate: number): void {
    if (!this.#words.leaveOne(rate)) return;
    for (const fd of this.#sockets) steerPort(fd, { kind: 'by client' });
    this.#words.notify();
  }
}

/** Batches that follow each other. */
class Batches {
  batches = 0;
  packets = 0;
  #since = 0;

  begin(now: number): void {
    this.batches = 0;
    this.packets = 0;
    this.#since = now;
  }

  add(packets: number): void {
    this.batches += 1;
    this.packets += packets;
  }

  /** Packets a second. */
  rateAt(now: number): number {
    return (this.packets * 1000) / Math.max(now - this.#since, 1);
  }
}
