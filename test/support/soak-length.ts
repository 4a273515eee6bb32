/**
 * How much the soak suite does: by default as much as half an hour of two cores allows, with `SOAK=long` all that the documentation
 * promises. A nightly run is long.
 */
const IS_LONG_SOAK = process.env['SOAK'] === 'long';

export function soakLength(long: number, short: number): number {
  return IS_LONG_SOAK ? long : short;
}
