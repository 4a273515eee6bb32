/**
 * Durations as Kubernetes programs write them in command lines and logs: `5s`, `1m30s`, `250ms`, `100us`, `0`.
 */
const MILLISECONDS: ReadonlyMap<string, number> = new Map<string, number>([
  ['us', 0.001],
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
]);
const MAX = 20 * 24 * 3_600_000;
const WHOLE = /^(?:\d+(?:\.\d+)?(?:us|ms|s|m|h))+$/;
const PART = /(\d+(?:\.\d+)?)(us|ms|s|m|h)/g;

/** @returns milliseconds, from 0, to the microsecond; undefined if the text is not a duration or exceeds 20 days, about a timer's limit. */
export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0;
  if (text.length > 30 || !WHOLE.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(PART))
    total += Number(amount) * (MILLISECONDS.get(unit ?? '') ?? 0);
  return total <= MAX ? Math.round(total * 1000) / 1000 : undefined;
}

/** The text of milliseconds, in the largest unit that divides them. */
export function formatDuration(milliseconds: number): string {
  for (const unit of ['h', 'm', 's'] as const) {
    const size = MILLISECONDS.get(unit) ?? 1;
    if (milliseconds >= size && milliseconds % size === 0) return `${milliseconds / size}${unit}`;
  }
  return milliseconds === 0 ? '0s' : `${milliseconds}ms`;
}

/** A measured time for a log line, rounded to useful precision: `0.35ms`, `12ms`, `2.53s`, `3m20s`, `5h2m`. */
export function formatElapsed(milliseconds: number): string {
  if (milliseconds < 10) return `${Number(milliseconds.toFixed(2))}ms`;
  if (milliseconds < 1_000) return `${Math.round(milliseconds)}ms`;
  if (milliseconds < 60_000) return `${Number((milliseconds / 1_000).toFixed(2))}s`;
  const seconds = Math.round(milliseconds / 1_000);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m${seconds % 60}s`;
  return `${Math.floor(minutes / 60)}h${minutes % 60}m`;
}

/** A duration as Go prints it: `25h0m0s`, `1.5s`, `200ms`. */
export function formatGoDuration(milliseconds: number): string {
  const sign = milliseconds < 0 ? '-' : '';
  const rest = Math.abs(milliseconds);
  if (rest === 0) return '0s';
  if (rest < 1e-3) return `${sign}${Math.round(rest * 1e6)}ns`;
  if (rest < 1) return `${sign}${rest * 1e3}µs`;
  if (rest < 1000) return `${sign}${rest}ms`;
  const hours = Math.floor(rest / 3_600_000);
  const minutes = Math.floor((rest % 3_600_000) / 60_000);
  const seconds = `${(rest % 60_000) / 1000}s`;
  if (hours > 0) return `${sign}${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${sign}${minutes}m${seconds}` : `${sign}${seconds}`;
}
