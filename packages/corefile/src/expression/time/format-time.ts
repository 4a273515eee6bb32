/**
 * Times and durations as text, as Go's time package writes them.
 */
import type { GoTime, WallTime } from './go-time.ts';
import { type LayoutField, type LayoutPart, MONTHS, parseLayout, WEEKDAYS } from './layout.ts';

/** How Go prints a time that nobody formats. */
const DEFAULT_LAYOUT = '2006-01-02 15:04:05.999999999 -0700 MST';

/** `Time.Format`. */
export function formatTime(time: GoTime, layout = DEFAULT_LAYOUT): string {
  const wall = time.toWallTime();
  return parseLayout(layout)
    .map((part) => formatPart(part, wall))
    .join('');
}

function formatPart(part: LayoutPart, wall: WallTime): string {
  switch (part.kind) {
    case 'literal':
      return part.text;
    case 'field':
      return formatField(part.field, wall);
    case 'fraction': {
      const digits = pad(wall.nanosecond, 9).slice(0, part.digits).padEnd(part.digits, '0');
      const shown = part.isExact ? digits : digits.replace(/0+$/, '');
      return shown === '' ? '' : part.separator + shown;
    }
  }
}

function pad(number: number, digits: number, filler = '0'): string {
  const text = String(Math.abs(number)).padStart(digits, filler);
  return number < 0 ? `-${text}` : text;
}

const FORMATS: Readonly<Partial<Record<LayoutField, (wall: WallTime) => string>>> = {
  January: ({ month }) => MONTHS[month - 1] ?? '',
  Jan: ({ month }) => (MONTHS[month - 1] ?? '').slice(0, 3),
  Monday: ({ weekday }) => WEEKDAYS[weekday] ?? '',
  Mon: ({ weekday }) => (WEEKDAYS[weekday] ?? '').slice(0, 3),
  // A zone without a name has its offset.
  MST: ({ findAbbreviation, offset }) => findAbbreviation() || formatOffset('-0700', offset),
  '002': ({ yearDay }) => pad(yearDay, 3),
  __2: ({ yearDay }) => pad(yearDay, 3, ' '),
  '01': ({ month }) => pad(month, 2),
  '1': ({ month }) => String(month),
  '02': ({ day }) => pad(day, 2),
  _2: ({ day }) => pad(day, 2, ' '),
  '2': ({ day }) => String(day),
  '03': ({ hour }) => pad(toHalfDay(hour), 2),
  '3': ({ hour }) => String(toHalfDay(hour)),
  '15': ({ hour }) => pad(hour, 2),
  '04': ({ minute }) => pad(minute, 2),
  '4': ({ minute }) => String(minute),
  '05': ({ second }) => pad(second, 2),
  '5': ({ second }) => String(second),
  '06': ({ year }) => pad(((year % 100) + 100) % 100, 2),
  '2006': ({ year }) => pad(year, 4),
  PM: ({ hour }) => (hour >= 12 ? 'PM' : 'AM'),
  pm: ({ hour }) => (hour >= 12 ? 'pm' : 'am'),
};

function formatField(field: LayoutField, wall: WallTime): string {
  return FORMATS[field]?.(wall) ?? formatOffset(field, wall.offset);
}

function toHalfDay(hour: number): number {
  return hour % 12 === 0 ? 12 : hour % 12;
}

/** @param field `-07:00`, `Z0700`, … */
function formatOffset(field: string, offset: number): string {
  if (field.startsWith('Z') && offset === 0) return 'Z';
  const colon = field.includes(':') ? ':' : '';
  const rest = Math.abs(offset);
  const parts = [rest / 3600, (rest / 60) % 60, rest % 60].map((part) => pad(Math.floor(part), 2));
  const count = field.replaceAll(':', '').length === 3 ? 1 : field.replaceAll(':', '').length === 5 ? 2 : 3;
  return (offset < 0 ? '-' : '+') + parts.slice(0, count).join(colon);
}

const NANOSECOND_UNITS: readonly (readonly [bigint, string, number])[] = [
  [1_000n, 'ns', 0],
  [1_000_000n, '\xb5s', 3],
  [1_000_000_000n, 'ms', 6],
];

/** `Duration.String`: `1h30m0s`, `1.5s`, `200ms`. @returns text, not octets */
export function formatDurationText(nanoseconds: bigint): string {
  if (nanoseconds === 0n) return '0s';
  const sign = nanoseconds < 0n ? '-' : '';
  const rest = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  for (const [below, unit, digits] of NANOSECOND_UNITS)
    if (rest < below) return sign + formatFraction(rest, digits) + unit;
  const minutes = rest / 60_000_000_000n;
  const seconds = `${formatFraction(rest % 60_000_000_000n, 9)}s`;
  if (minutes === 0n) return sign + seconds;
  const hours = minutes / 60n;
  return `${sign}${hours === 0n ? '' : `${hours}h`}${minutes % 60n}m${seconds}`;
}

/** @param digits behind the point */
function formatFraction(value: bigint, digits: number): string {
  const text = String(value).padStart(digits + 1, '0');
  const whole = text.slice(0, text.length - digits);
  const fraction = digits === 0 ? '' : text.slice(-digits).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}
