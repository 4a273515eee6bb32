/**
 * Which change caused failures in the past, and which one ended them.
 */
import type { ChangeRecord } from './history-record.ts';

/** Milliseconds between a change and the moment at which the server notices it, or its clients do. */
const GRACE = 60_000;
/** Milliseconds around a minute in which nothing failed, and before the first failure. */
export const NEAR = 5 * 60_000;
/** Milliseconds that records of different origin are apart. */
const EXACT = 2_000;
/** Milliseconds within which a server notices what it is not told. */
const LATE = 10_000;
const CONFIGURATION: ReadonlySet<string> = new Set(['configuration']);
const OBJECTS: ReadonlySet<string> = new Set(['objects']);
/** Any upstream server. */
const UPSTREAM = 'upstream';

interface TimedChange {
  readonly record: ChangeRecord;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** What failures are about, and when the first and the last was: milliseconds since 1970. */
interface FailedSubjects {
  readonly about: ReadonlySet<string>;
  readonly from: number;
  readonly to: number;
}

export class PastChanges {
  readonly #all: readonly TimedChange[];
  readonly #findings: readonly TimedChange[];
  readonly #others: readonly TimedChange[];

  /** @param changes in the order of their times */
  constructor(changes: readonly ChangeRecord[]) {
    this.#all = changes.map((record) => ({ record, at: Date.parse(record.at) }));
    this.#findings = this.#all.filter(isConsequence);
    this.#others = this.#all.filter((change) => !isConsequence(change));
  }

  /** What a server finds follows from what was changed before, and is a cause only where no such change is known. */
  findCause(failed: FailedSubjects): ChangeRecord | undefined {
    const { from } = failed;
    const ends = this.#listEnds(from - GRACE);
    const change = findCauseIn(this.#others, ends, failed);
    const finding = findCauseIn(this.#findings, ends, failed);
    if (change === undefined || finding === undefined) return (change ?? finding)?.record;
    if (change.at < Math.min(finding.at, from) - NEAR) return finding.record;
    // What is neither good nor bad, and comes later, is rather what ended them.
    const isLater = change.record.effect === 'either' && change.at > Math.max(finding.at, from) + LATE;
    return (isLater ? finding : change).record;
  }

  /** @param cause without a known one, only a change soon after may have ended it */
  findEnd({ about, to }: FailedSubjects, cause: ChangeRecord | undefined): ChangeRecord | undefined {
    const subjects = new Set([...(cause?.about ?? []), ...about]);
    const after = cause === undefined ? to - EXACT : Date.parse(cause.at);
    const until = cause === undefined ? to + GRACE : Number.POSITIVE_INFINITY;
    // Clients still saw failures until `to`.
    const isEnd = ({ record, at }: TimedChange) =>
      hasEffect(record, 'good') &&
      at > after &&
      at >= to - GRACE &&
      at <= until &&
      sharesSubject(record.about, subjects);
    const first = this.#all.find(isEnd);
    if (first === undefined || !isConsequence(first)) return first?.record;
    // The record of what ended it may come a moment later.
    const change = this.#others.find((each) => isEnd(each) && each.at <= first.at + LATE);
    return (change ?? first).record;
  }

  /** The latest change for the better before a time, by its subject. */
  #listEnds(before: number): ReadonlyMap<string, number> {
    const ends = new Map<string, number>();
    for (const { record, at } of this.#all) {
      if (at >= before) break;
      if (hasEffect(record, 'good')) for (const what of record.about) ends.set(what, at);
    }
    return ends;
  }
}

/** A configuration that is not in force is a change of its own; whether the server is ready follows from others. */
function isConsequence({ record: { change, about } }: TimedChange): boolean {
  return (change === 'finding' && !about.includes('configuration')) || about.includes('readiness');
}

/**
 * The latest change of what the failures are about; of services, otherwise one because of which they are not known.
 *
 * @param ends when which subjects were well again, well before the first failure
 */
function findCauseIn(
  changes: readonly TimedChange[],
  ends: ReadonlyMap<string, number>,
  { about, from, to }: FailedSubjects,
): TimedChange | undefined {
  const find = (subjects: ReadonlySet<string>, since = Number.NEGATIVE_INFINITY) => {
    const isCause = ({ record, at }: TimedChange) =>
      hasEffect(record, 'bad') &&
      at >= since &&
      sharesSubject(record.about, subjects) &&
      !record.about.some((what) => (ends.get(what) ?? Number.NEGATIVE_INFINITY) > at);
    const isEarly = ({ at }: TimedChange) => at <= from + EXACT;
    const isLate = ({ at }: TimedChange) => at > from + EXACT && at <= Math.min(from + GRACE, to + EXACT);
    return (
      changes.findLast((change) => isEarly(change) && isCause(change)) ??
      changes.find((change) => isLate(change) && isCause(change))
    );
  };
  const own = find(about);
  // Servers of another configuration are asked for the first time, and names of a former one are asked elsewhere.
  if ([...about].some(isUpstream)) return find(CONFIGURATION, (own?.at ?? from) - GRACE) ?? own;
  return own ?? ([...about].some(isOfService) ? find(OBJECTS) : undefined);
}

const isOfService = (what: string): boolean => what.startsWith('service ');

function isUpstream(what: string): boolean {
  return what === UPSTREAM || what.startsWith('upstream ');
}

function hasEffect({ effect }: ChangeRecord, wanted: 'bad' | 'good'): boolean {
  return effect === wanted || effect === 'either';
}

export function sharesSubject(about: readonly string[], subjects: ReadonlySet<string>): boolean {
  return about.some((what) => subjects.has(what) || (subjects.has(UPSTREAM) && isUpstream(what)));
}
