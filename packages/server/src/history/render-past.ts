/**
 * What the records of a history say, as text.
 */
import type { Paint } from '../reasons/render-explanation.ts';
import { PLAIN, withoutControls } from '../reasons/render-explanation.ts';
import type { ChangeRecord, HistoryRecord } from './history-record.ts';
import type { Episode, PastExplanation } from './past-verdict.ts';

/** Entries of a list in one row, and episodes of a name. */
const MAX_LISTED = 5;

/** @returns lines, the last one ends with a newline */
export function renderPast(given: PastExplanation, paint: Paint = PLAIN): string {
  const { verdict, episodes, otherNames, changes, leftOut, question } = withoutControls(given);
  const isGood = verdict.outcome === 'no-failure';
  const shown = new Set(episodes.flatMap(({ cause, end }) => [cause?.sentence, end?.sentence]));
  const rows: (readonly [string, string])[] = [
    ['asked', `${renderTime(question.from)} to ${renderTime(question.to)} UTC`],
    ...(verdict.reason === undefined ? [] : [['reason', verdict.reason] as const]),
    ...episodes.slice(0, MAX_LISTED).flatMap(renderEpisode),
    ...renderList('other names', otherNames),
    ...changes
      .filter(({ sentence }) => !shown.has(sentence))
      .slice(-MAX_LISTED)
      .map((change) => ['change', renderChange(change)] as const),
    ...(leftOut === 0 ? [] : [['left out', `${leftOut} failed queries: there were too many`] as const]),
  ];
  const lines = rows.map(([title, text]) => `  ${paint('faint', title.padEnd(11))} ${text}`.trimEnd());
  return `${[paint(isGood ? 'good' : 'bad', verdict.sentence), '', ...lines].join('\n')}\n`;
}

function renderEpisode(episode: Episode): readonly (readonly [string, string])[] {
  const { from, to, rcodes, types, clients, cause, end, replicas } = episode;
  return [
    ['failures', `${renderTime(from)} to ${renderTime(to)} UTC`],
    ['answers', `${listCounts(rcodes)}; ${types.join(', ')}`],
    ...renderList('clients', clients),
    ...(replicas.length === 0 ? [] : [['replicas', replicas.join(', ')] as const]),
    ['cause', cause === undefined ? 'no change of this time is known' : renderChange(cause)],
    ['end', end === undefined ? 'no change of this time is known' : renderChange(end)],
  ];
}

function renderList(
  title: string,
  counts: Readonly<Record<string, number>>,
): readonly (readonly [string, string])[] {
  const text = listCounts(counts);
  return text === '' ? [] : [[title, text]];
}

function listCounts(counts: Readonly<Record<string, number>>): string {
  const entries = Object.entries(counts).filter(([what]) => what !== '');
  const more = entries.length - MAX_LISTED;
  // Only values have lost their controls.
  const listed = entries.slice(0, MAX_LISTED).map(([what, count]) => `${withoutControls(what)} (${count})`);
  return [...listed, ...(more > 0 ? [`and ${more} more`] : [])].join('  ');
}

function renderChange({ at, sentence }: ChangeRecord): string {
  return `${renderTime(at)}  ${sentence}`;
}

/** A record as one line, for `tail`. */
export function renderRecord(given: HistoryRecord, paint: Paint = PLAIN): string {
  const record = withoutControls(given);
  const replica = record.replica === undefined ? '' : `  ${record.replica}`;
  if (record.kind === 'reach') return '';
  if (record.kind === 'change') {
    const style = record.effect === 'good' || record.effect === 'bad' ? record.effect : 'faint';
    return `${paint('faint', renderTime(record.at))}${replica}  ${paint(style, record.change)}  ${record.sentence}\n`;
  }
  const span = `${paint('faint', renderTime(record.from))}${replica}`;
  if (record.kind === 'left-out')
    return `${span}  ${record.queries} failed queries and ${record.changes} changes left out: there were too many\n`;
  const { client, name, type, rcode, count, slow, slowest, reason } = record;
  const words = [
    client.padEnd(15),
    `${name} ${type}`,
    paint('bad', rcode),
    `${count} times`,
    ...(slow === 0 ? [] : [`${slow} slow, up to ${slowest} ms`]),
    ...(reason === undefined ? [] : [paint('bad', reason)]),
  ];
  return `${span}  ${words.join('  ')}\n`;
}

/** To the second. */
export function renderTime(rfc3339: string): string {
  return rfc3339.slice(0, 19).replace('T', ' ');
}
