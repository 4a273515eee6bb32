/**
 * Time zones, by the tables of Node.js (ICU).
 */

/** What a zone says of an instant. */
export interface ZoneOffset {
  /** East of UTC. */
  readonly seconds: number;
  /** `CET`; empty for a zone that was read as an offset. Only few want it, and it is looked for in several tables. */
  readonly findAbbreviation: () => string;
}

export class GoZone {
  readonly name: string;
  /** @param second since 1970 */
  readonly findOffset: (second: bigint) => ZoneOffset;

  constructor(name: string, findOffset: GoZone['findOffset']) {
    this.name = name;
    this.findOffset = findOffset;
  }
}

export const UTC = new GoZone('UTC', () => ({ seconds: 0, findAbbreviation: () => 'UTC' }));

export function createFixedZone(name: string, seconds: number): GoZone {
  return new GoZone(name, () => ({ seconds, findAbbreviation: () => name }));
}

let local: GoZone | undefined;

/** The zone of the process. */
export function findLocalZone(): GoZone {
  if (local !== undefined) return local;
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  local = timeZone === 'UTC' ? new GoZone('Local', UTC.findOffset) : createTableZone('Local', timeZone);
  return local;
}

const MAX_ZONES = 50;
const zones = new Map<string, GoZone>();

/** `time.LoadLocation`. @returns undefined: there is none of that name */
export function loadZone(name: string): GoZone | undefined {
  if (name === '' || name === 'UTC') return UTC;
  if (name === 'Local') return findLocalZone();
  const known = zones.get(name);
  if (known !== undefined) return known;
  if (!isZoneName(name)) return undefined;
  const zone = createTableZone(name, name);
  // Names may come from queries.
  if (zones.size >= MAX_ZONES) zones.clear();
  zones.set(name, zone);
  return zone;
}

function isZoneName(name: string): boolean {
  if (!/^[A-Za-z][\w+-]*(?:\/[\w+-]+)*$/.test(name)) return false;
  try {
    const { timeZone } = new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions();
    // Names of Go are names of files; those of ICU have any case.
    return timeZone === name || timeZone.toLowerCase() !== name.toLowerCase();
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** From 1800, before which the tables have nothing, to the last year of four digits. */
const MIN_SECOND = -5_364_662_400n;
const MAX_SECOND = 253_402_300_799n;

function createTableZone(name: string, timeZone: string): GoZone {
  const fields = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'iso8601',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const abbreviate = createAbbreviations(timeZone);
  return new GoZone(name, (second) => {
    const within = second < MIN_SECOND ? MIN_SECOND : second > MAX_SECOND ? MAX_SECOND : second;
    const milliseconds = Number(within) * 1000;
    const parts = new Map(fields.formatToParts(milliseconds).map(({ type, value }) => [type, Number(value)]));
    const read = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
    const wall = new Date(0);
    wall.setUTCFullYear(read('year'), read('month') - 1, read('day'));
    wall.setUTCHours(read('hour'), read('minute'), read('second'));
    const seconds = Math.round((wall.getTime() - milliseconds) / 1000);
    return { seconds, findAbbreviation: () => abbreviate(milliseconds) ?? formatOffset(seconds) };
  });
}

/** Each region has the abbreviations that are in use there. */
const LOCALES = ['en-US', 'en-GB', 'en-AU', 'en-NZ', 'en-IN', 'en-ZA', 'ja-JP', 'ko-KR'];

function createAbbreviations(timeZone: string): (milliseconds: number) => string | undefined {
  let formats: readonly Intl.DateTimeFormat[] | undefined;
  return (milliseconds) => {
    // All of them take a millisecond to make, and of most zones nobody asks the abbreviation.
    formats ??= LOCALES.map((locale) => new Intl.DateTimeFormat(locale, { timeZone, timeZoneName: 'short' }));
    for (const format of formats) {
      const part = format.formatToParts(milliseconds).find(({ type }) => type === 'timeZoneName');
      if (part !== undefined && /^(?:[A-Z]{3,5}|UTC)$/.test(part.value)) return part.value;
    }
    return undefined;
  };
}

/** Zones without an abbreviation have their offset: `+03`, `+0530`. */
function formatOffset(seconds: number): string {
  const minutes = Math.trunc(Math.abs(seconds) / 60);
  const pad = (number: number) => String(number).padStart(2, '0');
  const rest = minutes % 60 === 0 ? '' : pad(minutes % 60);
  return `${seconds < 0 ? '-' : '+'}${pad(Math.trunc(minutes / 60))}${rest}`;
}
