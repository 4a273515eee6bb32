/**
 * The views through which one thread sees the table's memory.
 */
export interface TableViews {
  readonly octets: Uint8Array;
  readonly words: Uint32Array;
  /** The same words signed: the only view for `Atomics`. */
  readonly atoms: Int32Array;
}

export function viewTable(memory: SharedArrayBuffer): TableViews {
  return { octets: new Uint8Array(memory), words: new Uint32Array(memory), atoms: new Int32Array(memory) };
}

/** The least memory that is worth starting with. */
const LEAST_RESERVATION = 64 * 2 ** 20;

/**
 * Reserves address space for a table. Pages that were never touched cost nothing, so the reservation is large; where the
 * machine does not overcommit, a smaller one is taken.
 *
 * @param octets the wished size, at most 2 GiB (beyond it, offsets would leave the fast integers of the engine)
 * @throws RangeError when not even 64 MiB are to be had
 */
export function reserveTable(octets: number): SharedArrayBuffer {
  for (let size = octets; ; size = Math.floor(size / 2)) {
    try {
      return new SharedArrayBuffer(size);
    } catch (error) {
      if (size / 2 < LEAST_RESERVATION) throw error;
    }
  }
}
