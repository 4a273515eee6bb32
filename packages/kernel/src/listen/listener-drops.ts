/**
 * What a listener group drops while more comes than can be answered, in memory that all threads of the process share.
 */

/** `queries`: dropped before a plugin saw them. `responses`: not sent. */
export const DROPPED = { QUERIES: 0, RESPONSES: 1 } as const;
type Dropped = (typeof DROPPED)[keyof typeof DROPPED];

const FIELDS = 2;

export function makeListenerDrops(): SharedArrayBuffer {
  return new SharedArrayBuffer(FIELDS * BigUint64Array.BYTES_PER_ELEMENT);
}

export class ListenerDrops {
  readonly #counts: BigUint64Array;

  constructor(memory: SharedArrayBuffer) {
    this.#counts = new BigUint64Array(memory);
  }

  add(what: Dropped, times: number): void {
    if (times > 0) Atomics.add(this.#counts, what, BigInt(times));
  }

  read(what: Dropped): number {
    return Number(Atomics.load(this.#counts, what));
  }
}

/** @param memories one per socket; undefined: what is dropped there is not counted */
export function openDrops(
  memories: readonly (SharedArrayBuffer | undefined)[],
): readonly (ListenerDrops | undefined)[] {
  return memories.map((memory) => memory && new ListenerDrops(memory));
}
