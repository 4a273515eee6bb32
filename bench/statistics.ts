/**
 * Medians, percentiles and spread of small samples.
 */
export interface Summary {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** @throws RangeError without values */
export function summarize(values: readonly number[]): Summary {
  return { median: percentile(values, 50), min: Math.min(...values), max: Math.max(...values) };
}

/**
 * The smallest value that at least `percent` of all values do not exceed; for 50 and an even count, the mean of the two in
 * the middle.
 *
 * @throws RangeError without values
 */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  const rank = Math.max(1, Math.ceil((percent / 100) * sorted.length));
  const value = sorted[rank - 1];
  if (value === undefined) throw new RangeError('no values to summarize: measure at least once');
  if (percent !== 50 || sorted.length % 2 === 1) return value;
  return (value + (sorted[rank] ?? value)) / 2;
}
