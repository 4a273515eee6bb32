/**
 * What each reader thread counts, in memory that the main thread reads whenever it likes.
 *
 * Doubles, as they count far beyond 2^32 and an aligned one is read whole on a 64-bit machine (readers run on no other).
 */
const FIELDS = [
  ...[
    'batches',
    'packets',
    'cut',
    'faults',
    'refused',
    'blocked',
    'receiveErrors',
    'denied',
    'limited',
    'shed',
    'floods',
  ],
] as const;

type Field = (typeof FIELDS)[number];

/**
 * batches: receive calls that brought packets. packets: queries received. cut: queries longer than the memory of a packet.
 * faults: queries whose answering failed by a defect of ours. refused: answers that the kernel would not send. blocked:
 * answers dropped since the send buffer was full. receiveErrors: receive calls that failed. denied: queries of clients that
 * may not ask. limited: queries and responses beyond a rate. shed: packets of clients that sent most of them, dropped while a receive
 * buffer was filling up. floods: times that the kernel was told to let only a part of a client's packets through.
 */
export type ReaderCounts = Readonly<Record<Field, number>>;

export const COUNTER = Object.fromEntries(FIELDS.map((field, index) => [field, index])) as Readonly<
  // The entries are exactly the fields.
  Record<Field, number>
>;

export function makeReaderCounters(): SharedArrayBuffer {
  return new SharedArrayBuffer(FIELDS.length * Float64Array.BYTES_PER_ELEMENT);
}

export function readReaderCounters(memory: SharedArrayBuffer): ReaderCounts {
  const doubles = new Float64Array(memory);
  // As above.
  return Object.fromEntries(FIELDS.map((field, index) => [field, doubles[index] ?? 0])) as ReaderCounts;
}
