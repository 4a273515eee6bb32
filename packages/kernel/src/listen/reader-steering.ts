/**
 * The reader's part of packet steering: it measures its busy time, and reports when it gets more packets than it can answer.
 *
 * Shared words: word 0 is the mode, one of `STEERING`. After it comes a double per reader, in its own cache line: the
 * milliseconds that the reader was busy.
 */
import { waitAsync } from '../base/wait-async.ts';
import { steerPort } from '../socket/port-steering.ts';

/**
 * BY_CLIENT: the kernel spreads packets by client. STEERED: they go to the readers in use. WATCHED: as STEERED, until a
 * reader gets too many.
 */
export const STEERING = { BY_CLIENT: 0, STEERED: 1, WATCHED: 2 } as const;

const MODE = 0;
const LINE_OCTETS = 64;
const BUSY_STEP = LINE_OCTETS / Float64Array.BYTES_PER_ELEMENT;

/** This many full batches in a row are an overload: more than a late client sends. */
const MAX_FULL_IN_ROW = 16;
/** A reader with less busy time was only late, not overloaded. */
const MIN_BUSY_SHARE = 0.4;
/** A batch of this many packets counts as full. */
const FULL = 60;

/** The memory of a reader's part. */
export interface SteeringData {
  /** From `makeSteeringWords`. */
  readonly words: SharedArrayBuffer;
  /** The reader's place among those of the listener, from 0. */
  readonly place: number;
}

export function makeSteeringWords(readers: number): SharedArrayBuffer {
  return new SharedArrayBuffer((1 + readers) * LINE_OCTETS);
}

/** The state that readers and the main thread share. */
export class SteeringWords {
  readonly #words: Int32Array;
  readonly #doubles: Float64Array;

  constructor(memory: SharedArrayBuffer) {
    this.#words = new Int32Array(memory, 0, 1);
    this.#doubles = new Float64Array(memory);
  }

  /** One of `STEERING`. A reader may see a change a moment late. */
  get mode(): number {
    return this.#words[MODE] ?? STEERING.BY_CLIENT;
  }

  set mode(mode: number) {
    Atomics.store(this.#words, MODE, mode);
    Atomics.notify(this.#words, MODE);
  }

  /** Milliseconds that all readers together were busy for. */
  get busy(): number {
    let sum = 0;
    for (let at = BUSY_STEP; at < this.#doubles.length; at += BUSY_STEP) sum += this.#doubles[at] ?? 0;
    return sum;
  }

  addBusy(place: number, milliseconds: number): void {
    const at = (1 + place) * BUSY_STEP;
    this.#doubles[at] = (this.#doubles[at] ?? 0) + milliseconds;
  }

  /** Ends mode WATCHED. @returns whether it was still set */
  endWatched(): boolean {
    const { BY_CLIENT, WATCHED } = STEERING;
    return Atomics.compareExchange(this.#words, MODE, WATCHED, BY_CLIENT) === WATCHED;
  }

  notify(): void {
    Atomics.notify(this.#words, MODE);
  }

  /** Settles when the mode is no longer WATCHED; undefined if it is not WATCHED now. */
  untilEnded(): Promise<unknown> | undefined {
    return waitAsync(this.#words, MODE, STEERING.WATCHED);
  }
}

export class ReaderSteering {
  readonly #words: SteeringWords;
  readonly #place: number;
  readonly #sockets: readonly number[];
  /** Full batches in a row: how many, since when, and the time that their packets took. */
  #fullInRow = 0;
  #rowSince = 0;
  #rowBusy = 0;

  /** @param sockets descriptors of the reader's sockets, one for each address */
  constructor({ words, place }: SteeringData, sockets: readonly number[]) {
    this.#words = new SteeringWords(words);
    this.#place = place;
    this.#sockets = sockets;
  }

  /**
   * Notes a batch that was answered.
   *
   * @param now of the clock's monotonic time
   * @param busy milliseconds since its packets came
   */
  note(packets: number, now: number, busy: number): void {
    this.noteWork(busy);
    if (packets < FULL || this.#words.mode !== STEERING.WATCHED) {
      this.#beginRow(now);
      return;
    }
    this.#fullInRow += 1;
    this.#rowBusy += busy;
    if (this.#fullInRow < MAX_FULL_IN_ROW) return;
    if (this.#rowBusy >= (now - this.#rowSince) * MIN_BUSY_SHARE) this.#reportOverload();
    this.#beginRow(now);
  }

  /** Notes other work of the reader. @param milliseconds that it took */
  noteWork(milliseconds: number): void {
    this.#words.addBusy(this.#place, milliseconds);
  }

  #beginRow(now: number): void {
    this.#fullInRow = 0;
    this.#rowBusy = 0;
    this.#rowSince = now;
  }

  /** Spreads packets by client: that is right for any set of readers; the main thread may then choose better. */
  #reportOverload(): void {
    if (!this.#words.endWatched()) return;
    for (const fd of this.#sockets) steerPort(fd, { kind: 'by client' });
    this.#words.notify();
  }
}
