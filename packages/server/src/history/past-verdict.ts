/**
 * What failed at a time in the past, which change caused it, and which one ended it: pure functions of the records of a history.
 */
import {
  byStart,
  type ChangeRecord,
  countLeftOut,
  type FailureRecord,
  type HistoryRecord,
  overlaps,
  readSpan,
  type TimeSpan,
} from './history-record.ts';
import { NEAR, PastChanges, sharesSubject } from './past-changes.ts';
import { compileNameMatch, findServiceOfName, type PastQuestion } from './past-question.ts';

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
/** Milliseconds before and after, in which changes that all names depend on are shown. */
const WIDE = 15 * 60_000;
/** What all names depend on. */
const COMMON: readonly string[] = ['configuration', 'server', 'objects'];
const MAX_CHANGES = 20;

/** @param reachesTo what the history reaches back to: milliseconds since 1970 */
export function explainPast(
  records: readonly HistoryRecord[],
  question: PastQuestion,
  reachesTo: number | undefined,
): PastExplanation {
  const changes = records.filter((record) => record.kind === 'change').sort(byStart);
  const matchName = compileNameMatch(question);
  const matched = records.flatMap((record) => {
    const rank = record.kind === 'failure' ? matchName(record) : 0;
    return record.kind === 'failure' && rank > 0 ? [{ record, rank }] : [];
  });
  const isInMinute = matched.some(({ record }) => overlaps(readSpan(record), question));
  // People remember times more or less.
  const wide = { from: question.from - NEAR, to: question.to + NEAR };
  const asked = isInMinute ? question : wide;
  const inTime = matched.filter(({ record }) => overlaps(readSpan(record), asked));
  const best = inTime.reduce((most, { rank }) => Math.max(most, rank), 0);
  const own = matched.filter(({ rank }) => rank === best).map(({ record }) => record);
  const episodes = findEpisodes(own, changes, asked);
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

/**
 * The most failures first.
 *
 * @param changes in the order of their times
 * @param asked the time that they overlap
 */
export function findEpisodes(
  failures: readonly (FailureRecord & HistoryRecord)[],
  changes: readonly ChangeRecord[],
  asked: TimeSpan,
  most = Number.POSITIVE_INFINITY,
): readonly Episode[] {
  const groups = new Map<string, FailureRecord[]>();
  for (const failure of [...failures].sort(byStart)) {
    const key = `${failure.name} ${failure.rcode === 'NOERROR' ? 'slow' : ''}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [failure]);
    else group.push(failure);
  }
  const past = new PastChanges(changes);
  return [...groups.values()]
    .flatMap(splitAtPauses)
    .map((group) => ({ group, count: countFailures(group), span: joinSpans(group) }))
    .filter(({ span }) => overlaps(span, asked))
    .sort((one, other) => other.count - one.count)
    .slice(0, most)
    .map(({ group, count, span }) => toEpisode(group, count, span, past));
}

function countFailures(failures: readonly FailureRecord[]): number {
  return failures.reduce((sum, { count }) => sum + count, 0);
}

/** There may be more than a call takes as arguments. */
function joinSpans(failures: readonly FailureRecord[]): TimeSpan {
  return failures.map(readSpan).reduce((joined, { from, to }) => ({
    from: Math.min(joined.from, from),
    to: Math.max(joined.to, to),
  }));
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
  count: number,
  { from, to }: TimeSpan,
  past: PastChanges,
): Episode {
  const failed = { about: new Set(failures.flatMap((failure) => failure.about)), from, to };
  // Later answers may be cached, and say less.
  const explained = failures.find(({ reason }) => reason !== undefined);
  const cause = past.findCause(failed);
  return {
    name: failures[0]?.name ?? '',
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    count,
    slow: failures.reduce((sum, { slow }) => sum + slow, 0),
    slowest: findMost(failures.map(({ slowest }) => slowest)),
    rcodes: countBy(failures, ({ rcode }) => rcode),
    clients: countBy(failures, ({ client }) => client),
    types: [...new Set(failures.map(({ type }) => type))],
    reason: explained?.reason,
    sentence: explained?.sentence,
    cause,
    end: past.findEnd(failed, cause),
    replicas: [...new Set(failures.flatMap(({ replica = [] }) => replica))],
  };
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
  const from = Math.min(question.from, findLeast(starts)) - WIDE;
  const to = Math.max(question.to, findMost(ends)) + WIDE;
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
    if (overlaps(span, question)) return verdict;
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

/** Those that were kept. */
export function countClients({ clients }: Pick<Episode, 'clients'>): number {
  return Object.keys(clients).filter((client) => client !== '').length;
}

function judgeEpisode(worst: Episode): PastExplanation['verdict'] {
  const { name, count, slow, slowest, reason, sentence, rcodes } = worst;
  const many = countClients(worst);
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

/** There are more than a call takes as arguments. @returns infinity for none */
function findLeast(numbers: readonly number[]): number {
  return numbers.reduce((least, each) => Math.min(least, each), Number.POSITIVE_INFINITY);
}

/** @returns minus infinity for none */
function findMost(numbers: readonly number[]): number {
  return numbers.reduce((most, each) => Math.max(most, each), Number.NEGATIVE_INFINITY);
}

function countBy<Item extends { readonly count: number }>(
  items: readonly Item[],
  readKey: (item: Item) => string,
): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(readKey(item), (counts.get(readKey(item)) ?? 0) + item.count);
  return Object.fromEntries([...counts].sort(([, one], [, other]) => other - one));
}
