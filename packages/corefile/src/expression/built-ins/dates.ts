/**
 * `now`, `date`, `duration` and `timezone`.
 */
import { fromOctets } from '../text/octets.ts';
import { GoTime } from '../time/go-time.ts';
import { findLocalZone, GoZone, loadZone, UTC } from '../time/go-zone.ts';
import { parseNanoseconds } from '../time/parse-duration.ts';
import { parseTime } from '../time/parse-time.ts';
import { DURATION, functionType, type GoType, STRING, TIME, ZONE } from '../types/go-type.ts';
import { EvaluationError } from '../values/budget.ts';
import { type EvaluationContext, type ExpressionValue, GoDuration } from '../values/value.ts';
import { type BuiltIn, type BuiltIns, needText } from './built-in.ts';

export const DATE_FUNCTIONS: BuiltIns = new Map(
  Object.entries<BuiltIn>({
    now: { infer: inferNow, call: readClock },
    date: { infer: inferDate, call: readDate },
    duration: {
      signatures: [functionType([STRING], DURATION, ['error'])],
      call: ([text]) => {
        const nanoseconds = parseNanoseconds(needText(text));
        if (typeof nanoseconds === 'string') throw new EvaluationError(nanoseconds);
        return new GoDuration(nanoseconds);
      },
    },
    timezone: {
      signatures: [functionType([STRING], ZONE, ['error'])],
      call: ([name]) => needZone(needText(name)),
    },
  }),
);

function inferNow(types: readonly GoType[]): GoType | string {
  const [zone] = types;
  if (zone === undefined || (types.length === 1 && zone.name === ZONE.name)) return TIME;
  return `invalid number of arguments (expected 0, got ${types.length})`;
}

function readClock([zone]: readonly ExpressionValue[], { now }: EvaluationContext): GoTime {
  const time = new GoTime(BigInt(Math.floor(now())) * 1_000_000n, findLocalZone());
  return zone instanceof GoZone ? time.in(zone) : time;
}

function inferDate(types: readonly GoType[]): GoType | string {
  if (types.length === 0) return 'invalid number of arguments (expected at least 1, got 0)';
  const count = types.length - (types[0]?.name === ZONE.name ? 1 : 0);
  return count > 3 ? `invalid number of arguments (expected at most 3, got ${count})` : TIME;
}

/** Those that are tried if none is given. */
const LAYOUTS = [
  '2006-01-02',
  '15:04:05',
  '2006-01-02 15:04:05',
  '2006-01-02T15:04:05Z07:00',
  '02 Jan 06 15:04 MST',
  'Monday, 02-Jan-06 15:04:05 MST',
  'Mon, 02 Jan 2006 15:04:05 MST',
];

function readDate(args: readonly ExpressionValue[]): GoTime {
  const [first] = args;
  const given = first instanceof GoZone ? first : undefined;
  const [text, layout, name] = given === undefined ? args : args.slice(1);
  const date = fromOctets(needText(text));
  const zone = name === undefined ? given : needZone(needText(name));
  const local = zone ?? findLocalZone();
  const layouts = layout === undefined ? LAYOUTS : [fromOctets(needText(layout))];
  for (const each of layouts) {
    const time = parseTime(each, date, zone ?? UTC, local);
    if (time !== undefined) return time;
  }
  throw new EvaluationError(`invalid date ${date}`);
}

/** @throws EvaluationError */
function needZone(name: string): GoZone {
  const zone = loadZone(name);
  if (zone === undefined) throw new EvaluationError(`unknown time zone ${name}`);
  return zone;
}
