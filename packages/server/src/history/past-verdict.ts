/**
 * What failed at a time in the past, which change caused it, and which one ended it: pure functions of the records of a history.
 */
import type { ChangeRecord, FailureRecord, HistoryRecord } from './history-record.ts';
import { readSpan } from './history-record.ts';
import { findServiceOfName, matchName, type PastQuestion } from './past-question.ts';

export const PAST_VERSION = 'portolan/v1alpha1';

/** Failures of one name, without a long pause. It is sent as JSON. */
export interface Episode {
  readonly name: string;
  /** RFC 3339: the first and the last failure. */
  readonly from: string;
  readonly to: string;
  readonly count: number;
  /** Of these, how many took longer than a second, and milliseconds of the slowest. */
  readonly slow: number;
  readonly slowest: number;
  /** With the counts of each. */
  readonly rcodes: Readonly<Record<string, number>>;
  readonly clients: Readonly<Record<string, number>>;
  readonly types: readonly string[];
  readonly reason: string | undefined;
  readonly sentence: string | undefined;
  /** Undefined: no record explains it. */
  readonly cause: ChangeRecord | undefined;
  readonly end: ChangeRecord | undefined;
  /** The replicas that gave these answers, if several were asked. */
  readonly replicas: readonly string[];
}

export interface PastExplanation {
  readonly apiVersion: typeof PAST_VERSION;
  readonly kind: 'PastExplanation';
  readonly question: { readonly name: string; readonly from: string; readonly to: string };
  readonly verdict: {
    /** `unknown`: the history does not reach back so far. */
    readonly outcome: 'failed' | 'slow' | 'no-failure' | 'unknown';
    readonly sentence: string;
    readonly reason?: string;
  };
  /** The name that is most likely meant, worst first. */
  readonly episodes: readonly Episode[];
  /** Other names that the search list may have made of it, with their failures. */
  readonly otherNames: Readonly<Record<string, number>>;
  /** Of the service, or of servers, while there were failures or at the time. */
  readonly changes: readonly ChangeRecord[];
  /** Failed queries that were not kept, and clients with names beyond the bound. */
  readonly leftOut: number;
}

/** Milliseconds without a failure that end an episode. A minute has a record of its own. */
const PAUSE = 5 * 60_000;
/** Milliseconds between a change and the moment at which the server notices it, or its clients do. */
const GRACE = 60_000;
/** Milliseconds that records of different origin are apart. */
const EXACT = 2_000;
/** Milliseconds within which a server notices what it is not told. */
const LATE = 10_000;
/** Milliseconds around a minute in which nothing failed, and before the first failure. */
const NEAR = 5 * 60_000;
/** Milliseconds before and after, in which changes that all names depend on are shown. */
const WIDE = 15 * 60_000;
/** What all names depend on. */
const COMMON: readonly string[] = ['configuration', 'server', 'objects'];
const CONFIGURATION: ReadonlySet<string> = new Set(['configuration']);
const OBJECTS: ReadonlySet<string> = new Set(['objects']);
const MAX_CHANGES = 20;

/** @param reachesTo what the history reaches back to: milliseconds since 1970 */
export function explainPast(
  records: readonly HistoryRecord[],
  question: PastQuestion,
  reachesTo: number | undefined,
): PastExplanation {
  const changes = records.filter((record) => record.kind === 'change').sort(byStart);
  const matched = records.flatMap((record) => {
    const rank = record.kind === 'failure' ? matchName(record, question) : 0;
    return record.kind === 'failure' && rank > 0 ? [{ record, rank }] : [];
  });
  const inMinute = matched.filter(({ record }) => isWithinSpan(readSpan(record), question));
  // People remember times more or less.
  const wide = { from: question.from - NEAR, to: question.to + NEAR };
  const asked = inMinute.length > 0 ? question : wide;
  const inTime = matched.filter(({ record }) => isWithinSpan(readSpan(record), asked));
  const best = Math.max(0, ...inTime.map(({ rank }) => rank));
  const own = matched.filter(({ rank }) => rank === best).map(({ record }) => record);
  const episodes = findEpisodes(own, changes).filter((episode) =>
    isWithinSpan({ from: Date.parse(episode.from), to: Date.parse(episode.to) }, asked),
  );
  const related = findRelated(changes, question, episodes);
  return {
    apiVersion: PAST_VERSION,
    kind: 'PastExplanation',
    question: {
      name: question.name,
      from: new Date(question.from).toISOString(),
      to: new Date(question.to).toISOString(),
    },
    verdict: judge(episodes, related, question, reachesTo),
    episodes,
    otherNames: countBy(
      inTime.filter(({ rank }) => rank < best).map(({ record }) => record),
      ({ name }) => name,
    ),
    changes: related.slice(-MAX_CHANGES),
    leftOut: countLeftOut(records, question),
  };
}

/** The most failures first. */
export function findEpisodes(
  failures: readonly FailureRecord[],
  changes: readonly (ChangeRecord & HistoryRecord)[],
): readonly Episode[] {
  const groups = new Map<string, FailureRecord[]>();
  for (const failure of [...failures].sort(byStart)) {
    const key = `${failure.name} ${failure.rcode === 'NOERROR' ? 'slow' : ''}`;
    groups.set(key, [...(groups.get(key) ?? []), failure]);
  }
  return [...groups.values()]
    .flatMap(splitAtPauses)
    .map((group) => toEpisode(group, changes))
    .sort((one, other) => other.count - one.count);
}

function splitAtPauses(failures: readonly FailureRecord[]): readonly (readonly FailureRecord[])[] {
  const parts: FailureRecord[][] = [];
  let until = Number.NEGATIVE_INFINITY;
  for (const failure of failures) {
    const { from, to } = readSpan(failure);
    if (from > until + PAUSE) parts.push([]);
    parts.at(-1)?.push(failure);
    until = Math.max(until, to);
  }
  return parts;
}

function toEpisode(
  failures: readonly (FailureRecord & HistoryRecord)[],
  changes: readonly ChangeRecord[],
): Episode {
  const spans = failures.map(readSpan);
  const from = Math.min(...spans.map((span) => span.from));
  const to = Math.max(...spans.map((span) => span.to));
  const about = new Set(failures.flatMap((failure) => failure.about));
  // Later answers may be cached, and say less.
  const explained = failures.find(({ reason }) => reason !== undefined);
  const cause = findCause(changes, about, from, to);
  return {
    name: failures[0]?.name ?? '',
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    count: failures.reduce((sum, { count }) => sum + count, 0),
    slow: failures.reduce((sum, { slow }) => sum + slow, 0),
    slowest: Math.max(...failures.map(({ slowest }) => slowest)),
    rcodes: countBy(failures, ({ rcode }) => rcode),
    clients: countBy(failures, ({ client }) => client),
    types: [...new Set(failures.map(({ type }) => type))],
    reason: explained?.reason,
    sentence: explained?.sentence,
    cause,
    end: chooseEnd(changes, cause, about, to),
    replicas: [...new Set(failures.flatMap(({ replica = [] }) => replica))],
  };
}

/** What a server finds follows from what was changed before, and is a cause only where no such change is known. */
function findCause(
  changes: readonly ChangeRecord[],
  about: ReadonlySet<string>,
  from: number,
  to: number,
): ChangeRecord | undefined {
  const find = (candidates: readonly ChangeRecord[]) => findCauseIn(candidates, changes, about, from, to);
  const change = find(changes.filter((each) => !isConsequence(each)));
  const finding = find(changes.filter(isConsequence));
  if (change === undefined || finding === undefined) return change ?? finding;
  const changedAt = Date.parse(change.at);
  const foundAt = Date.parse(finding.at);
  if (changedAt < Math.min(foundAt, from) - NEAR) return finding;
  // What is neither good nor bad, and comes later, is rather what ended them.
  return change.effect === 'either' && changedAt > Math.max(foundAt, from) + LATE ? finding : change;
}

/** A configuration that is not in force is a change of its own. */
function isConsequence({ change, about }: ChangeRecord): boolean {
  return change === 'finding' && !about.includes('configuration');
}

/** The latest change of what the failures are about; of services, otherwise one because of which they are not known. */
function findCauseIn(
  candidates: readonly ChangeRecord[],
  changes: readonly ChangeRecord[],
  about: ReadonlySet<string>,
  from: number,
  to: number,
): ChangeRecord | undefined {
  const early = candidates.filter(({ at }) => Date.parse(at) <= from + EXACT);
  const late = candidates.filter(
    ({ at }) => Date.parse(at) > from + EXACT && Date.parse(at) <= Math.min(from + GRACE, to + EXACT),
  );
  const find = (subjects: ReadonlySet<string>, since = Number.NEGATIVE_INFINITY) => {
    const isCause = (change: ChangeRecord) =>
      hasEffect(change, 'bad') &&
      Date.parse(change.at) >= since &&
      sharesSubject(change.about, subjects) &&
      !isUndone(changes, change, from);
    return early.findLast(isCause) ?? late.find(isCause);
  };
  const own = find(about);
  // Servers of another configuration are asked for the first time, and names of a former one are asked elsewhere.
  if ([...about].some(isUpstream))
    return find(CONFIGURATION, (own === undefined ? from : Date.parse(own.at)) - GRACE) ?? own;
  return own ?? ([...about].some(isOfService) ? find(OBJECTS) : undefined);
}

const isOfService = (what: string): boolean => what.startsWith('service ');

function isUpstream(what: string): boolean {
  return what === 'upstream' || what.startsWith('upstream ');
}

/** Whether a change was over well before the first failure. */
function isUndone(changes: readonly ChangeRecord[], change: ChangeRecord, from: number): boolean {
  const end = findEnd(changes, change.about, Date.parse(change.at), Date.parse(change.at));
  return end !== undefined && Date.parse(end.at) < from - GRACE;
}

/** Without a known cause, only a change soon after may have ended it. */
function chooseEnd(
  changes: readonly ChangeRecord[],
  cause: ChangeRecord | undefined,
  about: ReadonlySet<string>,
  to: number,
): ChangeRecord | undefined {
  if (cause !== undefined) return findEnd(changes, [...cause.about, ...about], Date.parse(cause.at), to);
  const soon = changes.filter(({ at }) => Date.parse(at) <= to + GRACE);
  return findEnd(soon, [...about], to - EXACT, to);
}

/** The first change for the better, after the cause, and not before clients still saw failures. */
function findEnd(
  changes: readonly ChangeRecord[],
  about: readonly string[],
  after: number,
  to: number,
): ChangeRecord | undefined {
  const subjects = new Set(about);
  const isEnd = (change: ChangeRecord) =>
    hasEffect(change, 'good') &&
    Date.parse(change.at) > after &&
    Date.parse(change.at) >= to - GRACE &&
    sharesSubject(change.about, subjects);
  const first = changes.find(isEnd);
  if (first === undefined || !isConsequence(first)) return first;
  // The record of what ended it may come a moment later.
  const until = Date.parse(first.at) + LATE;
  return changes.find((each) => isEnd(each) && !isConsequence(each) && Date.parse(each.at) <= until) ?? first;
}

function hasEffect({ effect }: ChangeRecord, wanted: 'bad' | 'good'): boolean {
  return effect === wanted || effect === 'either';
}

/** `upstream` is any upstream server. */
function sharesSubject(about: readonly string[], subjects: ReadonlySet<string>): boolean {
  return about.some((what) => subjects.has(what) || (subjects.has('upstream') && isUpstream(what)));
}

function findRelated(
  changes: readonly ChangeRecord[],
  question: PastQuestion,
  episodes: readonly Episode[],
): readonly ChangeRecord[] {
  const service = findServiceOfName(question);
  const subjects = new Set([...COMMON, ...(service === undefined ? [] : [service])]);
  for (const { cause, end } of episodes)
    for (const what of [...(cause?.about ?? []), ...(end?.about ?? [])]) subjects.add(what);
  const starts = episodes.map(({ from }) => Date.parse(from));
  const ends = episodes.map(({ to }) => Date.parse(to));
  const from = Math.min(question.from, ...starts) - WIDE;
  const to = Math.max(question.to, ...ends) + WIDE;
  return changes.filter(
    (change) =>
      Date.parse(change.at) >= from && Date.parse(change.at) <= to && sharesSubject(change.about, subjects),
  );
}

function judge(
  episodes: readonly Episode[],
  changes: readonly ChangeRecord[],
  question: PastQuestion,
  reachesTo: number | undefined,
): PastExplanation['verdict'] {
  const [worst] = episodes;
  if (worst !== undefined) {
    const span = { from: Date.parse(worst.from), to: Date.parse(worst.to) };
    const verdict = judgeEpisode(worst);
    if (isWithinSpan(span, question)) return verdict;
    return { ...verdict, sentence: `not in this time, but near it: ${verdict.sentence}` };
  }
  if (reachesTo === undefined || reachesTo > question.to)
    return { outcome: 'unknown', sentence: `nothing is known of ${question.name}: the history begins later` };
  const none = `no failure of ${question.name} is known`;
  const service = findServiceOfName(question);
  const state = changes.findLast(
    ({ at, about }) => Date.parse(at) <= question.to && service !== undefined && about.includes(service),
  );
  if (state?.effect !== 'bad') return { outcome: 'no-failure', sentence: `${none} at this time` };
  return { outcome: 'no-failure', sentence: `${none} at this time, but ${state.sentence}` };
}

function judgeEpisode(worst: Episode): PastExplanation['verdict'] {
  const { name, count, slow, slowest, clients, reason, sentence, rcodes } = worst;
  const many = Object.keys(clients).filter((client) => client !== '').length;
  const ofClients = many === 0 ? '' : ` for ${many} ${many === 1 ? 'client' : 'clients'}`;
  const times = `${count} ${count === 1 ? 'time' : 'times'}${ofClients}`;
  const shown = name === '' ? 'a name' : name;
  if (Object.keys(rcodes).every((rcode) => rcode === 'NOERROR'))
    return {
      outcome: 'slow',
      sentence: `${shown} was slow ${times}: up to ${(slowest / 1_000).toFixed(1)} s`,
    };
  const late = slow === 0 ? '' : `, after up to ${(slowest / 1_000).toFixed(1)} s`;
  const why = sentence ?? reason;
  return {
    outcome: 'failed',
    sentence: `${shown} failed ${times}${late}${why === undefined ? '' : `: ${why}`}`,
    ...(reason !== undefined && { reason }),
  };
}

function countLeftOut(records: readonly HistoryRecord[], question: TimeSpan): number {
  return records
    .filter((record) => isWithinSpan(readSpan(record), question))
    .reduce((sum, record) => sum + (record.kind === 'left-out' ? record.queries : 0), 0);
}

/** Milliseconds since 1970. */
interface TimeSpan {
  readonly from: number;
  readonly to: number;
}

function isWithinSpan(span: TimeSpan, asked: TimeSpan): boolean {
  return span.from <= asked.to && span.to >= asked.from;
}

function countBy<Item extends { readonly count: number }>(
  items: readonly Item[],
  readKey: (item: Item) => string,
): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(readKey(item), (counts.get(readKey(item)) ?? 0) + item.count);
  return Object.fromEntries([...counts].sort(([, one], [, other]) => other - one));
}

function byStart(one: HistoryRecord, other: HistoryRecord): number {
  return readSpan(one).from - readSpan(other).from;
}
