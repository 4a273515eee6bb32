/**
 * `time.ParseDuration`, to the nanosecond.
 */
import { quoteOctets } from '../text/octets.ts';

const UNITS: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['\xc2\xb5s', 1_000n],
  ['\xce\xbcs', 1_000n],
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
]);
const PART = /^(\d*)(?:\.(\d*))?([^.\d]*)/;
const MAX = 2n ** 63n;

/** @param text octets @returns nanoseconds, or Go's message */
export function parseNanoseconds(text: string): bigint | string {
  const fault = (reason: string) => `time: ${reason} ${quoteOctets(text)}`;
  const isNegative = text.startsWith('-');
  let rest = text.replace(/^[+-]/, '');
  if (rest === '0') return 0n;
  if (rest === '') return fault('invalid duration');
  let total = 0n;
  while (rest !== '') {
    const [part = '', whole = '', fraction = '', unit = ''] = PART.exec(rest) ?? [];
    if (whole === '' && fraction === '') return fault('invalid duration');
    if (unit === '') return fault('missing unit in duration');
    const size = UNITS.get(unit);
    if (size === undefined) return `time: unknown unit ${quoteOctets(unit)} in duration ${quoteOctets(text)}`;
    total += BigInt(whole) * size;
    if (fraction !== '')
      total += (BigInt(fraction.slice(0, 18)) * size) / 10n ** BigInt(fraction.slice(0, 18).length);
    if (total > MAX) return fault('invalid duration');
    rest = rest.slice(part.length);
  }
  if (isNegative) return -total;
  return total === MAX ? fault('invalid duration') : total;
}
