/**
 * The reader's part of steering packets: while all of a port come to one reader, it says when they are too many.
 *
 * Shared words: 0 mode, one of `STEERING`. Behind them a double: the packets a second that the reader could answer.
 */
import { waitAsync } from '../base/wait-async.ts';
import { steerPort } from '../socket/port-steering.ts';

/** BY_CLIENT: the kernel spreads packets by client. ONE: one reader gets all. RANDOM: each reader gets its share. */
export const STEERING = { BY_CLIENT: 0, ONE: 1, RANDOM: 2 } as const;

const MODE = 0;
const CAPACITY_AT = 8;

/** Batches of one reader that are looked at together, and how many packets on average are too many. */
const WINDOW = 256;
const MAX_PACKETS = 16;
/** So many batches in a row that are as large as can be are too many at once: more than a client sends that was late. */
const MAX_FULL_IN_ROW = 16;
/** With less of its time for packets a reader was only late, and is not overloaded. */
const MIN_BUSY_SHARE = 0.4;
/** A batch of so many packets is as large as can be, or nearly. */
const FULL = 60;

export function makeSteeringWords(): SharedArrayBuffer {
  return new SharedArrayBuffer(CAPACITY_AT + Float64Array.BYTES_PER_ELEMENT);
}

/** What readers and the main thread know in common. */
export class SteeringWords {
  readonly #words: Int32Array;
  readonly #capacity: Float64Array;

  constructor(memory: SharedArrayBuffer) {
    this.#words = new Int32Array(memory, 0, 1);
    this.#capacity = new Float64Array(memory, CAPACITY_AT, 1);
  }

  /** One of `STEERING`. A reader may see a change a moment late. */
  get mode(): number {
    return this.#words[MODE] ?? STEERING.BY_CLIENT;
  }

  set mode(mode: number) {
    Atomics.store(this.#words, MODE, mode);
    Atomics.notify(this.#words, MODE);
  }

  /** The packets a second that the reader could answer which had too many, receiving them left out. */
  get capacity(): number {
    return this.#capacity[0] ?? 0;
  }

  /** Ends mode ONE. @returns whether it held until now */
  leaveOne(capacity: number): boolean {
    if (Atomics.compareExchange(this.#words, MODE, STEERING.ONE, STEERING.BY_CLIENT) !== STEERING.ONE)
      return false;
    this.#capacity[0] = capacity;
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

  /**
   * Notes a batch that was answered.
   *
   * @param now of the clock's monotonic time
   * @param busy milliseconds since its packets had come
   */
  note(packets: number, now: number, busy: number): void {
    if (this.#words.mode !== STEERING.ONE) {
      this.#window.begin(now);
      this.#fullRow.begin(now);
      return;
    }
    this.#window.add(packets, busy);
    if (packets < FULL) this.#fullRow.begin(now);
    else this.#fullRow.add(packets, busy);
    if (this.#fullRow.batches >= MAX_FULL_IN_ROW) this.#judge(this.#fullRow, now);
    if (this.#window.batches < WINDOW) return;
    if (this.#window.packets > MAX_PACKETS * WINDOW) this.#judge(this.#window, now);
    this.#window.begin(now);
  }

  /** Spreads packets by client: that is right whatever readers there are; the main thread may know better ways. */
  #judge(batches: Batches, now: number): void {
    if (batches.busyShareAt(now) < MIN_BUSY_SHARE || !this.#words.leaveOne(batches.capacity)) return;
    for (const fd of this.#sockets) steerPort(fd, { kind: 'by client' });
    this.#words.notify();
  }
}

/** Batches that follow each other. */
class Batches {
  batches = 0;
  packets = 0;
  #busy = 0;
  #since = 0;

  begin(now: number): void {
    this.batches = 0;
    this.packets = 0;
    this.#busy = 0;
    this.#since = now;
  }

  add(packets: number, busy: number): void {
    this.batches += 1;
    this.packets += packets;
    this.#busy += busy;
  }

  /** The share of the time that packets took. */
  busyShareAt(now: number): number {
    return this.#busy / Math.max(now - this.#since, Number.EPSILON);
  }

  /** Packets a second that could be answered if nothing else took time. */
  get capacity(): number {
    return (this.packets * 1000) / Math.max(this.#busy, Number.EPSILON);
  }
}
