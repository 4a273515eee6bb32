/**
 * The counters of each reader thread, in memory that the main thread reads at any time.
 *
 * Doubles: they count far beyond 2^32, and aligned ones are read atomically on a 64-bit machine (readers require one).
 */
const FIELDS = [
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
  'badHeaders',
  'failing',
] as const;

type CounterName = (typeof FIELDS)[number];

/**
 * batches: receive calls that returned packets. packets: queries received. cut: queries longer than the memory of a
 * packet. faults: queries that failed by a defect of this program. refused: answers that the kernel refused to send. blocked:
 * answers dropped because the send buffer was full. receiveErrors: receive calls that failed. denied: queries of
 * clients that the rules reject. limited: queries and responses beyond a rate. shed: packets of the busiest clients,
 * dropped while a receive buffer was filling up. floods: times that the kernel was set to pass only a part of a
 * client's packets. badHeaders: packets dropped since the header of their proxy was malformed, or not wanted. failing: the receive calls that have failed since the last one that did not.
 */
export type ReaderCounters = Readonly<Record<CounterName, number>>;

export const COUNTER = Object.fromEntries(FIELDS.map((field, index) => [field, index])) as Readonly<
  // The entries are exactly the fields.
  Record<CounterName, number>
>;

/** The sum of each counter. */
export function addReaderCounts(counts: readonly ReaderCounters[]): ReaderCounters {
  const sumField = (field: CounterName) => counts.reduce((sum, count) => sum + count[field], 0);
  // As above.
  return Object.fromEntries(FIELDS.map((field) => [field, sumField(field)])) as ReaderCounters;
}

/** With so many receive calls that fail in a row, one every 10 ms, a reader hears nothing. */
export const FAILING_CALLS = 50;

export function makeReaderCounters(): SharedArrayBuffer {
  return new SharedArrayBuffer(FIELDS.length * Float64Array.BYTES_PER_ELEMENT);
}

export function readReaderCounters(memory: SharedArrayBuffer): ReaderCounters {
  const doubles = new Float64Array(memory);
  // As above.
  return Object.fromEntries(FIELDS.map((field, index) => [field, doubles[index] ?? 0])) as ReaderCounters;
}
