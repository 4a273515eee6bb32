/**
 * `time.Parse`: a time from a text and a layout.
 */
import { countDaysInMonth, GoTime, makeTime } from './go-time.ts';
import { createFixedZone, type GoZone, UTC } from './go-zone.ts';
import { type LayoutField, type LayoutPart, MONTHS, parseLayout, WEEKDAYS } from './layout.ts';

/** What a text has said so far. */
interface ReadFields {
  year: number;
  month?: number;
  day?: number;
  yearDay?: number;
  hour: number;
  minute: number;
  second: number;
  nanosecond: number;
  half?: 'am' | 'pm';
  /** Seconds east of UTC. */
  offset?: number;
  zoneName?: string;
  isUtc?: true;
}

/** What follows after a part was read; undefined: the text does not have it. */
type Rest = string | undefined;

/**
 * @param zone of times that name none
 * @param local the zone whose offsets and abbreviations are known by their names
 * @returns undefined: the text is no such time
 */
export function parseTime(layout: string, text: string, zone: GoZone, local: GoZone): GoTime | undefined {
  const fields: ReadFields = { year: 0, hour: 0, minute: 0, second: 0, nanosecond: 0 };
  const parts = parseLayout(layout);
  let rest: Rest = text;
  for (const [place, part] of parts.entries()) {
    rest = readLayoutPart(part, rest, fields, parts[place + 1]);
    if (rest === undefined) return undefined;
  }
  return rest === '' ? assemble(fields, zone, local) : undefined;
}

function readLayoutPart(
  part: LayoutPart,
  text: string,
  fields: ReadFields,
  next: LayoutPart | undefined,
): Rest {
  switch (part.kind) {
    case 'literal':
      return skipLiteral(part.text, text);
    case 'fraction':
      return readFraction(part, text, fields);
    case 'field': {
      const rest = readField(part.field, text, fields);
      const isSecond = part.field === '05' || part.field === '5';
      // A fraction may follow seconds, also where the layout has none.
      if (rest === undefined || !isSecond || next?.kind === 'fraction') return rest;
      const [fraction = ''] = /^[.,]\d+/.exec(rest) ?? [];
      if (fraction !== '') fields.nanosecond = toNanoseconds(fraction);
      return rest.slice(fraction.length);
    }
  }
}

/** Spaces of the layout stand for any number of them. */
function skipLiteral(literal: string, text: string): Rest {
  let rest = text;
  for (let at = 0; at < literal.length; at++) {
    if (literal[at] === ' ') {
      if (rest !== '' && !rest.startsWith(' ')) return undefined;
      rest = rest.replace(/^ +/, '');
      while (literal[at + 1] === ' ') at++;
    } else {
      if (rest === '' || rest[0] !== literal[at]) return undefined;
      rest = rest.slice(1);
    }
  }
  return rest;
}

function readFraction(
  part: Extract<LayoutPart, { kind: 'fraction' }>,
  text: string,
  fields: ReadFields,
): Rest {
  const [fraction] = /^[.,]\d+/.exec(text) ?? [];
  // A fraction that need not be there ends with its digits; another one has all of them.
  if (!part.isExact) {
    if (fraction === undefined) return text;
    const taken = fraction.slice(0, 10);
    fields.nanosecond = toNanoseconds(taken);
    return text.slice(taken.length);
  }
  if (fraction === undefined || fraction.length < part.digits + 1) return undefined;
  const taken = fraction.slice(0, part.digits + 1);
  fields.nanosecond = toNanoseconds(taken);
  return text.slice(taken.length);
}

/** @param fraction with its separator */
function toNanoseconds(fraction: string): number {
  return Number(fraction.slice(1, 10).padEnd(9, '0'));
}

function readField(field: LayoutField, text: string, fields: ReadFields): Rest {
  switch (field) {
    case 'January':
    case 'Jan':
      return readName(field === 'Jan' ? MONTHS.map((name) => name.slice(0, 3)) : MONTHS, text, (place) => {
        fields.month = place + 1;
      });
    case 'Monday':
    case 'Mon':
      return readName(field === 'Mon' ? WEEKDAYS.map((name) => name.slice(0, 3)) : WEEKDAYS, text, () => {});
    case '06':
      return readNumber(text, /^\d\d/, 0, 99, (year) => {
        fields.year = year >= 69 ? 1900 + year : 2000 + year;
      });
    case '2006':
      return readNumber(text, /^\d{4}/, 0, 9999, (year) => {
        fields.year = year;
      });
    case 'PM':
    case 'pm':
      return readHalf(field, text, fields);
    case 'MST':
      return readZoneName(text, fields);
    case '002':
    case '__2':
      return readNumber(
        field === '__2' ? text.replace(/^ {1,2}/, '') : text,
        field === '002' ? /^\d{3}/ : /^\d{1,3}/,
        1,
        366,
        (day) => {
          fields.yearDay = day;
        },
      );
    default:
      return readClock(field, text, fields) ?? readOffset(field, text, fields);
  }
}

const CLOCK: Readonly<
  Partial<
    Record<
      LayoutField,
      readonly [keyof ReadFields & ('month' | 'day' | 'hour' | 'minute' | 'second'), number, number]
    >
  >
> = {
  '01': ['month', 1, 12],
  '1': ['month', 1, 12],
  '02': ['day', 0, 99],
  _2: ['day', 0, 99],
  '2': ['day', 0, 99],
  '15': ['hour', 0, 23],
  '03': ['hour', 0, 12],
  '3': ['hour', 0, 12],
  '04': ['minute', 0, 59],
  '4': ['minute', 0, 59],
  '05': ['second', 0, 59],
  '5': ['second', 0, 59],
};

function readClock(field: LayoutField, text: string, fields: ReadFields): Rest {
  const [name, min, max] = CLOCK[field] ?? [];
  if (name === undefined || min === undefined || max === undefined) return undefined;
  const digits = /^0/.test(field) ? /^\d\d/ : /^\d\d?/;
  return readNumber(field === '_2' ? text.replace(/^ /, '') : text, digits, min, max, (number) => {
    fields[name] = number;
  });
}

function readNumber(
  text: string,
  digits: RegExp,
  min: number,
  max: number,
  take: (number: number) => void,
): Rest {
  const [found] = digits.exec(text) ?? [];
  if (found === undefined || Number(found) < min || Number(found) > max) return undefined;
  take(Number(found));
  return text.slice(found.length);
}

function readName(names: readonly string[], text: string, take: (place: number) => void): Rest {
  const place = names.findIndex((name) => text.slice(0, name.length).toLowerCase() === name.toLowerCase());
  const name = names[place];
  if (name === undefined) return undefined;
  take(place);
  return text.slice(name.length);
}

function readHalf(field: 'PM' | 'pm', text: string, fields: ReadFields): Rest {
  const [half] = (field === 'PM' ? /^[AP]M/ : /^[ap]m/).exec(text) ?? [];
  if (half === undefined) return undefined;
  fields.half = half.toLowerCase() === 'am' ? 'am' : 'pm';
  return text.slice(2);
}

/** Abbreviations have three to five capitals; a few have another form. */
const ZONE_NAME =
  /^(?:ChST|MeST|GMT(?:[+-]\d{1,2})?|[+-]\d{1,2}|[A-Z]{4}T(?![A-Z])|(?:[A-Z]{3}T|WITA)(?![A-Z])|[A-Z]{3}(?![A-Z]))/;

function readZoneName(text: string, fields: ReadFields): Rest {
  if (text.startsWith('UTC')) {
    fields.isUtc = true;
    return text.slice(3);
  }
  const [name] = ZONE_NAME.exec(text) ?? [];
  if (name === undefined) return undefined;
  fields.zoneName = name;
  return text.slice(name.length);
}

/** @param field `-07:00`, `Z0700`, … */
function readOffset(field: string, text: string, fields: ReadFields): Rest {
  if (field.startsWith('Z') && text.startsWith('Z')) {
    fields.isUtc = true;
    return text.slice(1);
  }
  const syntax = OFFSETS.get(field.slice(1));
  const [all, sign, hours = '0', minutes = '0', seconds = '0'] = syntax?.exec(text) ?? [];
  if (all === undefined || Number(hours) > 24 || Number(minutes) > 60 || Number(seconds) > 60)
    return undefined;
  const offset = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  fields.offset = sign === '-' ? -offset : offset;
  return text.slice(all.length);
}

const OFFSETS: ReadonlyMap<string, RegExp> = new Map([
  ['07', /^([+-])(\d\d)/],
  ['0700', /^([+-])(\d\d)(\d\d)/],
  ['07:00', /^([+-])(\d\d):(\d\d)/],
  ['070000', /^([+-])(\d\d)(\d\d)(\d\d)/],
  ['07:00:00', /^([+-])(\d\d):(\d\d):(\d\d)/],
]);

function assemble(fields: ReadFields, zone: GoZone, local: GoZone): GoTime | undefined {
  const date = findDate(fields);
  if (date === undefined) return undefined;
  const { minute, second, nanosecond, half } = fields;
  const hour =
    half === 'pm' && fields.hour < 12
      ? fields.hour + 12
      : half === 'am' && fields.hour === 12
        ? 0
        : fields.hour;
  const all = { ...date, hour, minute, second, nanosecond };
  if (fields.isUtc) return makeTime(all, UTC);
  const asUtc = makeTime(all, UTC);
  if (fields.offset !== undefined) return findOffsetTime(asUtc, fields.offset, fields.zoneName ?? '', local);
  if (fields.zoneName !== undefined) return findNamedTime(asUtc, fields.zoneName, local);
  return makeTime(all, zone);
}

function findDate(fields: ReadFields): { year: number; month: number; day: number } | undefined {
  const { year, yearDay } = fields;
  let { month = 1, day = 1 } = fields;
  if (yearDay !== undefined) {
    const wall = makeTime(
      { year, month: 1, day: yearDay, hour: 0, minute: 0, second: 0, nanosecond: 0 },
      UTC,
    ).toWallTime();
    const contradicts =
      wall.year !== year ||
      (fields.month !== undefined && fields.month !== wall.month) ||
      (fields.day !== undefined && fields.day !== wall.day);
    if (contradicts) return undefined;
    ({ month, day } = wall);
  }
  return day < 1 || day > countDaysInMonth(year, month) ? undefined : { year, month, day };
}

/** In the local zone if that has the offset then, else in a zone of that offset. */
function findOffsetTime(asUtc: GoTime, offset: number, name: string, local: GoZone): GoTime {
  const time = asUtc.add(BigInt(-offset) * 1_000_000_000n);
  const there = local.findOffset(time.second);
  const isLocal = there.seconds === offset && (name === '' || name === there.findAbbreviation());
  return time.in(isLocal ? local : createFixedZone(name, offset));
}

/** Abbreviations of other zones have no known offset. */
function findNamedTime(asUtc: GoTime, name: string, local: GoZone): GoTime {
  const there = local.findOffset(asUtc.second);
  if (there.findAbbreviation() === name)
    return new GoTime(asUtc.nanoseconds - BigInt(there.seconds) * 1_000_000_000n, local);
  const [, hours] = /^GMT([+-]\d+)$/.exec(name) ?? [];
  const offset = Number(hours ?? 0) * 3600;
  return asUtc.in(createFixedZone(name, offset));
}
