/**
 * Durations as Kubernetes programs write them on their command line: `5s`, `1m30s`, `250ms`, `0`.
 */
const MILLISECONDS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const WHOLE = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/;
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h)/g;

/** @returns milliseconds, from 0, rounded; nothing if the text is no duration or longer than a day. */
export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0;
  if (text.length > 30 || !WHOLE.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(PART))
    total += Number(amount) * (MILLISECONDS[unit ?? ''] ?? 0);
  return total <= 24 * 3_600_000 ? Math.round(total) : undefined;
}

/** The text of whole milliseconds, in the largest unit that leaves no rest. */
export function formatDuration(milliseconds: number): string {
  for (const unit of ['h', 'm', 's'] as const) {
    const size = MILLISECONDS[unit] ?? 1;
    if (milliseconds >= size && milliseconds % size === 0) return `${milliseconds / size}${unit}`;
  }
  return milliseconds === 0 ? '0s' : `${milliseconds}ms`;
}
