/**
 * Methods of times, durations, months, days and zones, as Go's time package has them: `now().Weekday().String()`.
 */
import { fromOctets, toOctets } from '../text/octets.ts';
import { formatDurationText, formatTime } from '../time/format-time.ts';
import { type DateFields, divideDown, GoTime, makeTime, type WallTime, ZERO_TIME } from '../time/go-time.ts';
import { findLocalZone, GoZone, UTC } from '../time/go-zone.ts';
import {
  BOOL,
  DURATION,
  FLOAT,
  functionType,
  type GoType,
  INT,
  INT64,
  MONTH,
  STRING,
  TIME,
  WEEKDAY,
  ZONE,
} from '../types/go-type.ts';
import { EvaluationError } from '../values/budget.ts';
import { describeType } from '../values/describe-value.ts';
import { formatValue } from '../values/format-value.ts';
import { subtractTimes } from '../values/numbers.ts';
import {
  type EvaluationContext,
  type ExpressionValue,
  GoDuration,
  GoFunction,
  GoInteger,
  toInt,
} from '../values/value.ts';
import { needText } from './built-in.ts';

export interface Method {
  /** Without its receiver, but for the name. */
  readonly type: GoType;
  readonly bind: (receiver: ExpressionValue) => GoFunction;
}

type Methods = ReadonlyMap<string, Method>;

/** A value whose text is a name. */
interface NamedReceiver {
  readonly type: GoType;
  readonly need: (value: ExpressionValue | undefined) => ExpressionValue | undefined;
}

type MethodBody<Receiver> = (
  receiver: Receiver,
  args: readonly ExpressionValue[],
  context: EvaluationContext,
) => ExpressionValue;

/** @param further results behind the first */
function createMethod<Receiver>(
  receiver: { readonly type: GoType; readonly need: (value: ExpressionValue | undefined) => Receiver },
  parameters: readonly GoType[],
  result: GoType,
  body: MethodBody<Receiver>,
  further: readonly string[] = [],
): Method {
  const type = functionType(parameters, result, further);
  const { name } = functionType([receiver.type, ...parameters], result, further);
  return {
    type: { ...type, name },
    bind: (value) =>
      new GoFunction(
        type.name,
        parameters.map((parameter) => parameter.name),
        (args, context) => body(receiver.need(value), args, context),
      ),
  };
}

function fail(value: ExpressionValue | undefined, type: string): never {
  throw new EvaluationError(`reflect: Call using ${describeType(value ?? null)} as type ${type}`);
}

const needTime = (value: ExpressionValue | undefined): GoTime =>
  value instanceof GoTime ? value : fail(value, 'time.Time');
const needDuration = (value: ExpressionValue | undefined): bigint =>
  value instanceof GoDuration ? value.nanoseconds : fail(value, 'time.Duration');
const needZone = (value: ExpressionValue | undefined): GoZone =>
  value instanceof GoZone ? value : fail(value, '*time.Location');
const needPlainInteger = (value: ExpressionValue | undefined): bigint =>
  typeof value === 'bigint' ? value : fail(value, 'int');

const OF_TIME = { type: TIME, need: needTime };
const OF_DURATION = { type: DURATION, need: needDuration };
const OF_MONTH = { type: MONTH, need: (value: ExpressionValue | undefined) => value };
const OF_WEEKDAY = { type: WEEKDAY, need: OF_MONTH.need };
const OF_ZONE = { type: ZONE, need: needZone };

const field = (read: (wall: WallTime) => number): Method =>
  createMethod(OF_TIME, [], INT, (time) => BigInt(read(time.toWallTime())));
const units = (nanoseconds: bigint): Method =>
  createMethod(
    OF_TIME,
    [],
    INT64,
    (time) => new GoInteger('int64', toInt(divideDown(time.nanoseconds, nanoseconds))),
  );
const test = (body: (left: GoTime, right: GoTime) => boolean): Method =>
  createMethod(OF_TIME, [TIME], BOOL, (time, [other]) => body(time, needTime(other)));
const moved = (move: (time: GoTime) => GoTime): Method =>
  createMethod(OF_TIME, [], TIME, (time) => move(time));

const TIME_METHODS: Methods = new Map(
  Object.entries<Method>({
    Year: field(({ year }) => year),
    Day: field(({ day }) => day),
    Hour: field(({ hour }) => hour),
    Minute: field(({ minute }) => minute),
    Second: field(({ second }) => second),
    Nanosecond: field(({ nanosecond }) => nanosecond),
    YearDay: field(({ yearDay }) => yearDay),
    Month: createMethod(
      OF_TIME,
      [],
      MONTH,
      (time) => new GoInteger('time.Month', BigInt(time.toWallTime().month)),
    ),
    Weekday: createMethod(
      OF_TIME,
      [],
      WEEKDAY,
      (time) => new GoInteger('time.Weekday', BigInt(time.toWallTime().weekday)),
    ),
    ISOWeek: createMethod(OF_TIME, [], INT, (time) => BigInt(findIsoYear(time)), ['int']),
    Unix: units(1_000_000_000n),
    UnixMilli: units(1_000_000n),
    UnixMicro: units(1_000n),
    UnixNano: units(1n),
    Add: createMethod(OF_TIME, [DURATION], TIME, (time, [duration]) => time.add(needDuration(duration))),
    AddDate: createMethod(OF_TIME, [INT, INT, INT], TIME, addDate),
    Sub: createMethod(OF_TIME, [TIME], DURATION, (time, [other]) => subtractTimes(time, needTime(other))),
    After: test((left, right) => left.nanoseconds > right.nanoseconds),
    Before: test((left, right) => left.nanoseconds < right.nanoseconds),
    Equal: test((left, right) => left.nanoseconds === right.nanoseconds),
    Compare: createMethod(OF_TIME, [TIME], INT, (time, [other]) => {
      const right = needTime(other).nanoseconds;
      return time.nanoseconds < right ? -1n : time.nanoseconds > right ? 1n : 0n;
    }),
    IsZero: createMethod(OF_TIME, [], BOOL, (time) => time.nanoseconds === ZERO_TIME.nanoseconds),
    IsDST: createMethod(OF_TIME, [], BOOL, isSummerTime),
    Format: createMethod(OF_TIME, [STRING], STRING, (time, [layout], { budget }) => {
      const text = toOctets(formatTime(time, fromOctets(needText(layout))));
      budget.takeOctets(text.length);
      return text;
    }),
    String: createMethod(OF_TIME, [], STRING, (time) => formatTime(time)),
    UTC: moved((time) => time.in(UTC)),
    Local: moved((time) => time.in(findLocalZone())),
    In: createMethod(OF_TIME, [ZONE], TIME, (time, [zone]) => time.in(needZone(zone))),
    Location: createMethod(OF_TIME, [], ZONE, ({ zone }) => zone),
    Zone: createMethod(OF_TIME, [], STRING, (time) => time.toWallTime().findAbbreviation(), ['int']),
    Round: createMethod(OF_TIME, [DURATION], TIME, (time, [step]) =>
      roundTime(time, needDuration(step), true),
    ),
    Truncate: createMethod(OF_TIME, [DURATION], TIME, (time, [step]) =>
      roundTime(time, needDuration(step), false),
    ),
    // These have three results, so that expr-lang refuses their calls.
    Date: createMethod(OF_TIME, [], INT, () => null, ['time.Month', 'int']),
    Clock: createMethod(OF_TIME, [], INT, () => null, ['int', 'int']),
  }),
);

/** Go counts on from the other end of its years, which nobody wants. */
const MAX_DATE_STEPS = 1_000_000_000;

function addDate(time: GoTime, args: readonly ExpressionValue[]): GoTime {
  const [years, months, days] = args.map((arg) => Number(needPlainInteger(arg)));
  const wall = time.toWallTime();
  const isTooFar = [years, months, days].some((count = 0) => Math.abs(count) > MAX_DATE_STEPS);
  if (isTooFar) throw new EvaluationError('the date is out of range');
  const fields: DateFields = {
    ...wall,
    year: wall.year + (years ?? 0),
    month: wall.month + (months ?? 0),
    day: wall.day + (days ?? 0),
  };
  return makeTime(fields, time.zone);
}

/** The year of its Thursday (ISO 8601). */
function findIsoYear(time: GoTime): number {
  const wall = time.toWallTime();
  const toThursday = 4 - (wall.weekday === 0 ? 7 : wall.weekday);
  return makeTime({ ...wall, day: wall.day + toThursday }, UTC).toWallTime().year;
}

/** Whether its offset is more than the least of the year. */
function isSummerTime(time: GoTime): boolean {
  const { year, offset } = time.toWallTime();
  const offsets = [1, 7].map((month) => {
    const fields = { year, month, day: 1, hour: 0, minute: 0, second: 0, nanosecond: 0 };
    return makeTime(fields, time.zone).toWallTime().offset;
  });
  return offset > Math.min(...offsets);
}

/** To a multiple of a step since the year 1. */
function roundTime(time: GoTime, step: bigint, isRounded: boolean): GoTime {
  if (step <= 0n) return time;
  const since = time.nanoseconds - ZERO_TIME.nanoseconds;
  const rest = since - divideDown(since, step) * step;
  return time.add(isRounded && rest + rest >= step ? step - rest : -rest);
}

const ofUnit = (nanoseconds: number): Method =>
  createMethod(OF_DURATION, [], FLOAT, (duration) => {
    const whole = duration / BigInt(nanoseconds);
    return Number(whole) + Number(duration - whole * BigInt(nanoseconds)) / nanoseconds;
  });
const inUnit = (nanoseconds: bigint): Method =>
  createMethod(OF_DURATION, [], INT64, (duration) => new GoInteger('int64', duration / nanoseconds));

const DURATION_METHODS: Methods = new Map(
  Object.entries<Method>({
    Hours: ofUnit(3_600_000_000_000),
    Minutes: ofUnit(60_000_000_000),
    Seconds: ofUnit(1_000_000_000),
    Milliseconds: inUnit(1_000_000n),
    Microseconds: inUnit(1_000n),
    Nanoseconds: inUnit(1n),
    String: createMethod(OF_DURATION, [], STRING, (duration) => toOctets(formatDurationText(duration))),
    Abs: createMethod(OF_DURATION, [], DURATION, (duration) => new GoDuration(absolute(duration))),
    Round: createMethod(
      OF_DURATION,
      [DURATION],
      DURATION,
      (duration, [step]) => new GoDuration(roundDuration(duration, needDuration(step))),
    ),
    Truncate: createMethod(OF_DURATION, [DURATION], DURATION, (duration, [step]) => {
      const unit = needDuration(step);
      return new GoDuration(unit <= 0n ? duration : duration - (duration % unit));
    }),
  }),
);

const MAX_DURATION = 2n ** 63n - 1n;

function absolute(duration: bigint): bigint {
  if (duration >= 0n) return duration;
  return duration === -MAX_DURATION - 1n ? MAX_DURATION : -duration;
}

/** Halves away from zero; what overflows is the longest duration. */
function roundDuration(duration: bigint, step: bigint): bigint {
  if (step <= 0n) return duration;
  const sign = duration < 0n ? -1n : 1n;
  const size = duration * sign;
  const rest = size % step;
  const rounded = sign * (rest + rest < step ? size - rest : size - rest + step);
  if (rounded > MAX_DURATION) return MAX_DURATION;
  return rounded < -MAX_DURATION - 1n ? -MAX_DURATION - 1n : rounded;
}

/** Those of a month or a day. */
function showName(of: NamedReceiver): Method {
  return createMethod(of, [], STRING, (value, _args, { budget }) => formatValue(value ?? null, budget));
}

const METHODS: ReadonlyMap<string, Methods> = new Map([
  [TIME.name, TIME_METHODS],
  [DURATION.name, DURATION_METHODS],
  [MONTH.name, new Map([['String', showName(OF_MONTH)]])],
  [WEEKDAY.name, new Map([['String', showName(OF_WEEKDAY)]])],
  [ZONE.name, new Map([['String', createMethod(OF_ZONE, [], STRING, ({ name }) => name)]])],
]);

/** @param typeName in Go */
export function findMethod(typeName: string, name: string): Method | undefined {
  return METHODS.get(typeName)?.get(name);
}
