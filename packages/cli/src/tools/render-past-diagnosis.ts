/**
 * What `doctor` prints of a time in the past.
 */
import type { PastDiagnosis } from '@portolan/ops/control/past-records.ts';
import { countClients, type Episode } from '@portolan/server/history/past-verdict.ts';
import { renderRecord, renderTime } from '@portolan/server/history/render-past.ts';
import { type Paint, withoutControls } from '@portolan/server/reasons/render-explanation.ts';

export function renderPastDiagnosis(past: PastDiagnosis, paint: Paint): string {
  const { episodes, changes, leftOut, from, to } = withoutControls(past);
  const span = `${renderTime(from)} to ${renderTime(to)} UTC`;
  const lines = [
    ...episodes.flatMap((episode) => renderEpisode(episode, paint)),
    episodes.length === 0
      ? `${paint('good', 'ok')}           no name failed, ${span}`
      : `asked        ${span}`,
    ...(leftOut === 0 ? [] : [`left out     ${leftOut} failed queries: there were too many`]),
    ...(changes.length === 0 ? [] : ['', 'changes']),
  ];
  return `${lines.join('\n')}\n${changes.map((change) => `  ${renderRecord(change, paint)}`).join('')}`;
}

function renderEpisode(episode: Episode, paint: Paint): readonly string[] {
  const { name, reason, rcodes, count, from, to, sentence, cause, end, replicas } = episode;
  const kind = reason ?? Object.keys(rcodes).join(', ');
  const many = countClients(episode);
  const why = sentence === undefined ? '' : `: ${sentence}`;
  return [
    `${paint('bad', 'FAILED')}   ${kind.padEnd(24)}  ${name} ${count} times for ${many === 1 ? 'one client' : `${many} clients`}, ${renderTime(from)} to ${renderTime(to)} UTC${why}`,
    ...(cause === undefined ? [] : [`         cause  ${renderTime(cause.at)}  ${cause.sentence}`]),
    ...(end === undefined ? [] : [`         end    ${renderTime(end.at)}  ${end.sentence}`]),
    ...(replicas.length === 0 ? [] : [`         on     ${replicas.join(', ')}`]),
    '',
  ];
}
