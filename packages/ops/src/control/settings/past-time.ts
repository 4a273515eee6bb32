/**
 * Times in the past, as people write them on a command line.
 */
const DAY = 86_400_000;
const MINUTE = 60_000;
/** The time of a day, with or without its offset from UTC. */
const TIME_OF_DAY = /^(\d{1,2}):(\d{2})(?::(\d{2}))?(Z|[+-]\d{2}:?\d{2})?$/i;
/** A date and a time; the seconds may be missing, and the offset. */
const DATE_TIME = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(Z|[+-]\d{2}:?\d{2})?$/i;

/**
 * Reads the latest such time that is not after now. Without an offset it is in the time zone of this process.
 *
 * @param now milliseconds since 1970, as the result; undefined if it is no time
 */
export function parsePastTime(text: string, now: number): number | undefined {
  const ofDay = TIME_OF_DAY.exec(text);
  if (ofDay !== null) return parseTimeOfDay(ofDay, now);
  const [, date, time, offset = ''] = DATE_TIME.exec(text) ?? [];
  if (date === undefined || time === undefined) return undefined;
  const parsed = Date.parse(`${date}T${time}${toIsoOffset(offset)}`);
  return Number.isFinite(parsed) ? parsed : undefined;
}

function parseTimeOfDay(
  [, hours, minutes, seconds, offset]: RegExpExecArray,
  now: number,
): number | undefined {
  const [hour, minute, second] = [hours, minutes, seconds ?? '0'].map(Number);
  if (hour === undefined || minute === undefined || second === undefined) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const ahead = offset === undefined ? -new Date(now).getTimezoneOffset() * MINUTE : parseOffset(offset);
  const midnight = Math.floor((now + ahead) / DAY) * DAY - ahead;
  const time = midnight + ((hour * 60 + minute) * 60 + second) * 1_000;
  return time > now ? time - DAY : time;
}

/** Milliseconds ahead of UTC. */
function parseOffset(text: string): number {
  const [, sign, hours, minutes] = /^([+-])(\d{2}):?(\d{2})$/.exec(text) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * MINUTE;
}

/** `+0100`, as `date` prints it, is `+01:00`. */
function toIsoOffset(text: string): string {
  return text.replace(/^([+-]\d{2})(\d{2})$/, '$1:$2').toUpperCase();
}
