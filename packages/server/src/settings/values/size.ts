/**
 * Sizes in octets: a whole number, or one with a unit of 1024 as in Unbound and Kubernetes: `512K`, `16M`, `1G`, `16Mi`.
 */
const UNITS: ReadonlyMap<string, number> = new Map<string, number>([
  ['', 1],
  ['K', 2 ** 10],
  ['M', 2 ** 20],
  ['G', 2 ** 30],
]);
const SIZE = /^(\d{1,15})([KMG]?)(?:(?<=[KMG])iB?)?$/i;

/** @returns octets, from 0; undefined if the text is not a size */
export function parseSize(text: string): number | undefined {
  const [, digits, unit = ''] = SIZE.exec(text) ?? [];
  return digits === undefined ? undefined : Number(digits) * (UNITS.get(unit.toUpperCase()) ?? 1);
}

/** Formats octets with the largest unit that divides them. */
export function formatSize(octets: number): string {
  for (const unit of ['G', 'M', 'K'] as const) {
    const size = UNITS.get(unit) ?? 1;
    if (octets >= size && octets % size === 0) return `${octets / size}${unit}`;
  }
  return String(octets);
}
