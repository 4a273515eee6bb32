/**
 * Kubernetes quantities, such as the `1930m` processors of a node.
 */
const QUANTITY = /^([+-]?)(\d*)(?:\.(\d*))?(?:([KMGTPE]i)|[eE]([+-]?\d{1,2})|([numkMGTPE]?))$/;
const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
/** Powers of ten. */
const DECIMAL: ReadonlyMap<string, number> = new Map([
  ...([
    ['n', -9],
    ['u', -6],
    ['m', -3],
    ['', 0],
    ['k', 3],
  ] as const),
  ...([
    ['M', 6],
    ['G', 9],
    ['T', 12],
    ['P', 15],
    ['E', 18],
  ] as const),
]);
const NANO = 9;

/** A quantity in billionths, rounded away from zero, as Kubernetes does. @returns undefined if the text is not a quantity */
export function parseQuantity(text: string): bigint | undefined {
  const match = QUANTITY.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = '', fraction = '', binary, exponent, suffix = ''] = match;
  if (whole === '' && fraction === '') return undefined;
  const digits = BigInt(whole + fraction) * 1024n ** BigInt(BINARY.indexOf(binary ?? ''));
  const power =
    NANO - fraction.length + (exponent === undefined ? (DECIMAL.get(suffix) ?? 0) : Number(exponent));
  const value = power >= 0 ? digits * 10n ** BigInt(power) : divideUp(digits, 10n ** BigInt(-power));
  return sign === '-' ? -value : value;
}

/** Rounds up to whole units. @param nanos billionths, not negative */
export function ceilNanos(nanos: bigint): number {
  return Number(divideUp(nanos, 1_000_000_000n));
}

function divideUp(value: bigint, divisor: bigint): bigint {
  return (value + divisor - 1n) / divisor;
}
