/**
 * The data of LOC records (RFC 1876): `D [M [S]] N|S D [M [S]] E|W ALTITUDE [SIZE [HORIZONTAL [VERTICAL]]]`.
 */
import { ZoneFileFault, type ZoneWord } from './entries.ts';

/** The equator and the prime meridian, in thousandths of a second of arc. */
const ORIGIN = 2 ** 31;
/** Altitude 0 in centimetres above the reference, which is 100 km below the spheroid. */
const ALTITUDE_ORIGIN = 10_000_000;
/** Default size and precisions, in centimetres. */
const DEFAULTS = [100, 1_000_000, 1000] as const;

/** @param before The word before the data, as the place of a fault if all data is missing. @throws ZoneFileFault */
export function encodeLocation(words: readonly ZoneWord[], before: ZoneWord): Uint8Array {
  const latitude = takeAngle(words, before, 'N', 'S', 90);
  const longitude = takeAngle(latitude.rest, latitude.last, 'E', 'W', 180);
  const [altitude, ...further] = longitude.rest;
  if (altitude === undefined)
    throw new ZoneFileFault('the data ends too early: altitude is missing', toPlace(longitude.last));
  const extra = further[DEFAULTS.length];
  if (extra !== undefined) throw new ZoneFileFault('more words than LOC has', extra);
  const precisions = DEFAULTS.map((fallback, index) => {
    const word = further[index];
    return encodePrecision(word === undefined ? fallback : readCentimetres(word, 0, 9e9));
  });
  const octets = Buffer.alloc(16);
  octets.set([0, ...precisions]);
  octets.writeUInt32BE(latitude.angle, 4);
  octets.writeUInt32BE(longitude.angle, 8);
  octets.writeUInt32BE(
    readCentimetres(altitude, -ALTITUDE_ORIGIN, 2 ** 32 - 1 - ALTITUDE_ORIGIN) + ALTITUDE_ORIGIN,
    12,
  );
  return octets;
}

function toPlace({ line, column }: ZoneWord): { line: number; column: number } {
  return { line, column };
}

interface Angle {
  readonly angle: number;
  readonly last: ZoneWord;
  readonly rest: readonly ZoneWord[];
}

function takeAngle(
  words: readonly ZoneWord[],
  before: ZoneWord,
  positive: string,
  negative: string,
  max: number,
): Angle {
  const end = words.findIndex(({ text }) => [positive, negative].includes(text.toUpperCase()));
  const direction = words[end];
  if (direction === undefined || end > 3 || end === 0)
    throw new ZoneFileFault(
      `degrees, minutes and seconds, then ${positive} or ${negative}, are expected`,
      words[0] ?? before,
    );
  const [degrees = 0, minutes = 0, seconds = 0] = words
    .slice(0, end)
    .map((word, index) => readPart(word, index === 0 ? max : index === 1 ? 59 : 59.999, index === 2));
  const size = Math.round((degrees * 3600 + minutes * 60 + seconds) * 1000);
  if (size > max * 3_600_000) throw new ZoneFileFault(`more than ${max} degrees`, direction);
  const isPositive = direction.text.toUpperCase() === positive;
  return { angle: isPositive ? ORIGIN + size : ORIGIN - size, last: direction, rest: words.slice(end + 1) };
}

function readPart(word: ZoneWord, max: number, hasFraction: boolean): number {
  const form = hasFraction ? /^\d{1,3}(?:\.\d{1,3})?$/ : /^\d{1,3}$/;
  if (form.test(word.text) && Number(word.text) <= max) return Number(word.text);
  throw new ZoneFileFault(`not a number from 0 to ${max}`, word);
}

function readCentimetres(word: ZoneWord, min: number, max: number): number {
  const metres = /^(-?\d{1,8}(?:\.\d{1,2})?)m?$/i.exec(word.text)?.[1];
  const centimetres = metres === undefined ? Number.NaN : Math.round(Number(metres) * 100);
  if (centimetres >= min && centimetres <= max) return centimetres;
  throw new ZoneFileFault('not a number of metres in range', word);
}

/** One digit and a power of ten, one nibble each. */
function encodePrecision(centimetres: number): number {
  let exponent = 0;
  let digit = centimetres;
  while (digit > 9) {
    digit = Math.floor(digit / 10);
    exponent += 1;
  }
  return (digit << 4) | exponent;
}
