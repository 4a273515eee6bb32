/**
 * Instants with a zone, as Go's time package has them.
 */
import { type GoZone, UTC } from './go-zone.ts';

const NANOSECONDS = 1_000_000_000n;
const DAY = 86_400n;

/** Fields of a date; those beyond their range count on into the next. */
export interface DateFields {
  readonly year: number;
  /** From 1. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly nanosecond: number;
}

/** The wall clock of an instant. */
export interface WallTime extends DateFields {
  /** From 0: Sunday. */
  readonly weekday: number;
  /** From 1. */
  readonly yearDay: number;
  /** East of UTC, in seconds. */
  readonly offset: number;
  readonly findAbbreviation: () => string;
}

export class GoTime {
  /** Since 1970. */
  readonly nanoseconds: bigint;
  readonly zone: GoZone;

  constructor(nanoseconds: bigint, zone: GoZone) {
    this.nanoseconds = nanoseconds;
    this.zone = zone;
  }

  /** Since 1970, rounded down. */
  get second(): bigint {
    return divideDown(this.nanoseconds, NANOSECONDS);
  }

  add(nanoseconds: bigint): GoTime {
    return new GoTime(this.nanoseconds + nanoseconds, this.zone);
  }

  in(zone: GoZone): GoTime {
    return new GoTime(this.nanoseconds, zone);
  }

  toWallTime(): WallTime {
    const { seconds: offset, findAbbreviation } = this.zone.findOffset(this.second);
    const local = this.second + BigInt(offset);
    const days = divideDown(local, DAY);
    const date = toDate(days);
    const inDay = Number(local - days * DAY);
    return {
      ...date,
      hour: Math.floor(inDay / 3600),
      minute: Math.floor(inDay / 60) % 60,
      second: inDay % 60,
      nanosecond: Number(this.nanoseconds - this.second * NANOSECONDS),
      weekday: Number((((days + 4n) % 7n) + 7n) % 7n),
      yearDay: Number(days - countDays(date.year, 1, 1)) + 1,
      offset,
      findAbbreviation,
    };
  }
}

/** Rounds towards minus infinity. @param divisor above 0 */
export function divideDown(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  return dividend % divisor < 0n ? quotient - 1n : quotient;
}

/** The zero of Go's time: the year 1. */
export const ZERO_TIME_SECOND = -62_135_596_800n;

/** `time.Date`. */
export function makeTime(fields: DateFields, zone: GoZone): GoTime {
  const local =
    countDays(fields.year, fields.month, fields.day) * DAY +
    BigInt(fields.hour) * 3600n +
    BigInt(fields.minute) * 60n +
    BigInt(fields.second);
  return new GoTime(findInstant(local, zone) * NANOSECONDS + BigInt(fields.nanosecond), zone);
}

/** The second at which the clock of a zone shows a time. */
function findInstant(local: bigint, zone: GoZone): bigint {
  const guess = local - BigInt(zone.findOffset(local).seconds);
  return local - BigInt(zone.findOffset(guess).seconds);
}

/** Days of the Gregorian calendar since 1970. Months and days may be beyond their range. */
function countDays(year: number, month: number, day: number): bigint {
  const months = BigInt(year) * 12n + BigInt(month - 1);
  const whole = divideDown(months, 12n);
  // Years begin in March, so that the day of a leap year is their last.
  const monthInYear = months - whole * 12n;
  const shifted = monthInYear < 2n ? whole - 1n : whole;
  const monthFromMarch = (monthInYear + 10n) % 12n;
  const era = divideDown(shifted, 400n);
  const yearInEra = shifted - era * 400n;
  const dayInYear = (153n * monthFromMarch + 2n) / 5n + BigInt(day - 1);
  return era * 146_097n + yearInEra * 365n + yearInEra / 4n - yearInEra / 100n + dayInYear - 719_468n;
}

function toDate(days: bigint): Pick<WallTime, 'year' | 'month' | 'day'> {
  const shifted = days + 719_468n;
  const era = divideDown(shifted, 146_097n);
  const dayInEra = shifted - era * 146_097n;
  const yearInEra = (dayInEra - dayInEra / 1460n + dayInEra / 36_524n - dayInEra / 146_096n) / 365n;
  const dayInYear = dayInEra - (365n * yearInEra + yearInEra / 4n - yearInEra / 100n);
  const monthFromMarch = (5n * dayInYear + 2n) / 153n;
  const month = Number(monthFromMarch < 10n ? monthFromMarch + 3n : monthFromMarch - 9n);
  return {
    year: Number(yearInEra + era * 400n) + (month <= 2 ? 1 : 0),
    month,
    day: Number(dayInYear - (153n * monthFromMarch + 2n) / 5n) + 1,
  };
}

export function countDaysInMonth(year: number, month: number): number {
  return Number(countDays(year, month + 1, 1) - countDays(year, month, 1));
}

export const ZERO_TIME = new GoTime(ZERO_TIME_SECOND * NANOSECONDS, UTC);
