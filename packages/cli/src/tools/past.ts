/**
 * What commands say of the past: records of a running server's history, of a file, or of several replicas by standard input.
 */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import { parseDuration } from '@portolan/kernel/base/duration.ts';
import { parsePastTime } from '@portolan/ops/control/settings/past-time.ts';
import {
  type HistoryRecord,
  overlaps,
  parseRecord,
  readSpan,
  type TimeSpan,
} from '@portolan/server/history/history-record.ts';
import { fail, requestOrFail } from './control-output.ts';

/** The flags of a command about the past. */
export interface PastFlags {
  readonly at?: string | undefined;
  readonly since?: string | undefined;
  readonly history?: string | undefined;
  readonly socket?: string | undefined;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Records that are kept of a file. */
const MAX_RECORDS = 2_000_000;
const MAX_CHANGES_BEFORE = 24 * HOUR;

/** @returns undefined if a command is not about the past @throws ExitError with 2 for flags that cannot be */
export function readPastSpan(command: string, { at, since, history }: PastFlags): TimeSpan | undefined {
  const now = systemClock.now();
  if (at !== undefined && since !== undefined)
    fail(command, '--at, --since: both given. Give one of them.', 2);
  if (at !== undefined) {
    const time = parsePastTime(at, now);
    if (time === undefined || time > now)
      return fail(
        command,
        `--at: not a time of the past: "${at}". Give one such as 10:15, 10:15+0100 or 2026-11-29T10:15Z.`,
        2,
      );
    const from = Math.floor(time / MINUTE) * MINUTE;
    return { from, to: from + MINUTE - 1 };
  }
  if (since !== undefined) {
    const duration = parseDuration(since);
    if (duration === undefined)
      return fail(command, `--since: not a duration: "${since}". Give one such as 2h.`, 2);
    return { from: now - duration, to: now };
  }
  if (history !== undefined)
    fail(command, '--history: given without a time. Give --since too, as in --since=2h.', 2);
  return undefined;
}

/**
 * The failures of an hour before and after, and the changes of a day before: causes may be long before.
 *
 * @throws ExitError after the reason is printed
 */
export async function readPast(
  command: string,
  { history, socket }: PastFlags,
  { from, to }: TimeSpan,
): Promise<readonly HistoryRecord[]> {
  const wide = { from: from - HOUR, to: to + HOUR };
  const long = { from: from - MAX_CHANGES_BEFORE, to: to + HOUR };
  if (history !== undefined)
    return await readRecords(
      command,
      history,
      (record) =>
        record.kind === 'reach' || overlaps(readSpan(record), record.kind === 'change' ? long : wide),
    );
  const ask = async (span: TimeSpan, record: string) => {
    const words = [`from=${toTime(span.from)}`, `to=${toTime(span.to)}`, `record=${record}`];
    const records: unknown[] = [];
    for await (const record of requestOrFail(command, socket, { verb: 'history', words }))
      records.push(record);
    return records;
  };
  // The server is of the same version.
  return [...(await ask(wide, 'failure')), ...(await ask(long, 'change'))] as HistoryRecord[];
}

/** What a history reaches back to: milliseconds since 1970; undefined: there is none. */
export function findReach(records: readonly HistoryRecord[]): number | undefined {
  const reaches = records.filter(({ kind }) => kind === 'reach');
  // A file says nothing of it.
  const times = (reaches.length === 0 ? records : reaches).map((record) => readSpan(record).from);
  return times.length === 0 ? undefined : times.reduce((least, time) => Math.min(least, time));
}

async function readRecords(
  command: string,
  file: string,
  isWanted: (record: HistoryRecord) => boolean,
): Promise<readonly HistoryRecord[]> {
  const input = file === '-' ? process.stdin : createReadStream(file);
  const records: HistoryRecord[] = [];
  let others = 0;
  try {
    for await (const line of createInterface({ input })) {
      const record = parseRecord(line);
      if (record === undefined) others += line.trim() === '' ? 0 : 1;
      else if (isWanted(record)) records.push(record);
      if (records.length === MAX_RECORDS) break;
    }
  } catch (error) {
    fail(command, `--history: ${file}: ${describeError(error)}`, 3);
  }
  if (others > 0)
    process.stderr.write(`portolan ${command}: ${file}: ${others} lines are no records of a history\n`);
  return records;
}

/** Before 1970 there is nothing. */
function toTime(milliseconds: number): string {
  return new Date(Math.max(0, milliseconds)).toISOString();
}
