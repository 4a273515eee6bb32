/**
 * The records of a history: what failed, by minute, and what changed. In memory, in files and on the control socket each is a line of
 * JSON; readers ignore fields that they do not know. Times are RFC 3339, in UTC.
 */

/** Failures of a minute that have their name, client and reason in common. */
export interface FailureRecord {
  readonly kind: 'failure';
  /** The first and the last of them. */
  readonly from: string;
  readonly to: string;
  /** In presentation format with its final dot, or its hash; `*`: names beyond the bound of a minute; empty: not kept. */
  readonly name: string;
  readonly type: string;
  /** Its address, or the hash of it; empty: not kept. */
  readonly client: string;
  /** `NODATA`: NOERROR without records. `NOERROR`: answered, and slow. */
  readonly rcode: string;
  /** One of `ReasonKind`; undefined: not found. */
  readonly reason?: string;
  /** The reason as a sentence, as it was then. */
  readonly sentence?: string;
  /** What changes may have caused it: `service shop/cart`, `upstream 10.0.0.2:53`. */
  readonly about: readonly string[];
  readonly count: number;
  /** Those that took longer than a second, and milliseconds of the slowest. */
  readonly slow: number;
  readonly slowest: number;
}

export const CHANGES = [
  'server',
  'configuration',
  'service',
  'endpoints',
  'upstream',
  'objects',
  'finding',
] as const;

export interface ChangeRecord {
  readonly kind: 'change';
  readonly at: string;
  readonly change: (typeof CHANGES)[number];
  /** Whether names may fail since then, or resolve again. */
  readonly effect: 'bad' | 'good' | 'either' | 'none';
  /** Without its final full stop. */
  readonly sentence: string;
  /** As in `FailureRecord`. */
  readonly about: readonly string[];
}

/** What was not kept: there was too much. */
export interface LeftOutRecord {
  readonly kind: 'left-out';
  readonly from: string;
  readonly to: string;
  /** Failed queries, at least. */
  readonly queries: number;
  readonly changes: number;
}

/** How far a server's history reaches back: the first record of a reply. */
export interface ReachRecord {
  readonly kind: 'reach';
  readonly from: string;
}

export type HistoryRecord = (FailureRecord | ChangeRecord | LeftOutRecord | ReachRecord) & {
  /** The replica that it is of, if several were asked. */
  readonly replica?: string;
};

/** Characters of a text in a record; longer ones are cut. */
export const MAX_TEXT = 400;
/** What a record may be about. */
export const MAX_ABOUT = 8;
/** Characters of a line. Names have up to 1,010 with their escapes. */
export const MAX_LINE = 8_192;

/** The name of a record that stands for many. */
export const MANY_NAMES = '*';

/** Reads a line of a file or of another program. @returns undefined for one that is no record */
export function parseRecord(line: string): HistoryRecord | undefined {
  if (line.length > MAX_LINE) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  return isRecord(value) ? value : undefined;
}

type HistoryFields = Readonly<Record<string, unknown>>;

function isRecord(value: unknown): value is HistoryRecord {
  if (typeof value !== 'object' || value === null) return false;
  const fields = value as HistoryFields; // Each field that is read is checked.
  switch (fields['kind']) {
    case 'failure':
      return isFailure(fields);
    case 'change':
      return (
        isTime(fields['at']) &&
        areTexts([fields['change'], fields['effect'], fields['sentence']]) &&
        isListOfTexts(fields['about'])
      );
    case 'reach':
      return isTime(fields['from']);
    case 'left-out':
      return (
        isTime(fields['from']) && isTime(fields['to']) && areCounts([fields['queries'], fields['changes']])
      );
    default:
      return false;
  }
}

function isFailure(fields: HistoryFields): boolean {
  const { from, to, name, type, client, rcode, reason, sentence, about, count, slow, slowest } = fields;
  return (
    isTime(from) &&
    isTime(to) &&
    areTexts([name, type, client, rcode]) &&
    [reason, sentence].every((text) => text === undefined || typeof text === 'string') &&
    isListOfTexts(about) &&
    areCounts([count, slow, slowest])
  );
}

const areTexts = (values: readonly unknown[]): boolean => values.every((value) => typeof value === 'string');

const areCounts = (values: readonly unknown[]): boolean => values.every((value) => Number.isFinite(value));

const isListOfTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.every((text) => typeof text === 'string');

const isTime = (value: unknown): boolean => typeof value === 'string' && Number.isFinite(Date.parse(value));

/** Milliseconds since 1970. */
export interface TimeSpan {
  readonly from: number;
  readonly to: number;
}

/** Whether two times have a moment in common. */
export function overlaps(one: TimeSpan, other: TimeSpan): boolean {
  return one.from <= other.to && one.to >= other.from;
}

/** When a record begins and ends. */
export function readSpan(record: HistoryRecord): TimeSpan {
  switch (record.kind) {
    case 'change':
      return { from: Date.parse(record.at), to: Date.parse(record.at) };
    case 'reach':
      return { from: Date.parse(record.from), to: Date.parse(record.from) };
    case 'failure':
    case 'left-out':
      return { from: Date.parse(record.from), to: Date.parse(record.to) };
  }
}

/** Orders records as they began. */
export function byStart(one: HistoryRecord, other: HistoryRecord): number {
  return readSpan(one).from - readSpan(other).from;
}

/** The failed queries of a time that have no record. */
export function countLeftOut(records: readonly HistoryRecord[], asked: TimeSpan): number {
  return records.reduce(
    (sum, record) =>
      sum + (record.kind === 'left-out' && overlaps(readSpan(record), asked) ? record.queries : 0),
    0,
  );
}

export function cutText(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}
