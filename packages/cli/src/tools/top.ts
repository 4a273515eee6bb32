/**
 * `portolan top`: counts the queries that a running server answers, by name, client, namespace and failure.
 */
import { formatDuration } from '@portolan/kernel/base/duration.ts';
import { TOP_FLAGS } from '@portolan/ops/control/settings/control-flags.ts';
import type { TopRow } from '@portolan/ops/control/top-counts.ts';
import type { TopSnapshot } from '@portolan/ops/control/watch-verbs.ts';
import { describeCount } from '@portolan/server/observe/statistics/space-saving.ts';
import type { Paint } from '@portolan/server/reasons/render-explanation.ts';
import type { RunCommand } from '../grammar/command.ts';
import { runCommandLine } from '../grammar/command-line.ts';
import { printPiece } from '../process/outputs.ts';
import { choosePaint } from './colours.ts';
import { requestOrFail } from './control-output.ts';
import { readWatch } from './tail.ts';

/** Clears a terminal, and begins at its first line. */
const CLEAR = '\u001b[2J\u001b[H';

export const runTop: RunCommand = async (words, command) => {
  return await runCommandLine(words, { ...command, flags: TOP_FLAGS }, async (flags) => {
    const paint = choosePaint();
    const { socket, output, once = false } = flags;
    const clear = process.stdout.isTTY === true && !once && output !== 'json' ? CLEAR : '';
    for await (const data of requestOrFail(command.name, socket, {
      verb: 'top',
      words: readWatch('top', flags).words,
    })) {
      const snapshot = data as TopSnapshot; // The server is of the same version.
      const text = output === 'json' ? `${JSON.stringify(snapshot)}\n` : renderTop(snapshot, paint);
      await printPiece(`${clear}${text}`);
      if (once) break;
    }
  });
};

function renderTop(snapshot: TopSnapshot, paint: Paint): string {
  const { upstreams } = snapshot;
  const tables: readonly (readonly [string, readonly TopRow[]])[] = [
    ['results', snapshot.rcodes],
    ['sources', snapshot.sources],
    ['names', snapshot.names],
    ['clients', snapshot.clients],
    ['namespaces', snapshot.namespaces],
    ['failures', snapshot.failures],
    ['names made by search lists of a namespace', snapshot.searches],
  ];
  const lines = tables.flatMap(([title, rows]) => [
    ...(rows.length === 0 ? [] : ['', paint('faint', title)]),
    ...rows.map((row) => `${describeCount(row).padStart(8)}  ${row.what}`),
  ]);
  const servers = upstreams.map(({ server, state, roundTrip, timeouts }) => {
    const isWell = state === 'well' || state === 'untried';
    const time = roundTrip === undefined ? '-' : `${roundTrip.toFixed(1)} ms`;
    return `          ${server}  ${paint(isWell ? 'good' : 'bad', state)}  ${time}  ${timeouts} time-outs`;
  });
  const upstreamLines = servers.length === 0 ? [] : ['', paint('faint', 'upstream servers'), ...servers];
  return `${[describeInterval(snapshot), ...lines, ...upstreamLines].join('\n')}\n`;
}

function describeInterval({ isPast, seconds, queries, lost, searched, sampling }: TopSnapshot): string {
  const share = Math.round(searched * 100);
  return [
    ...(isPast ? [`the last ${formatDuration(Math.round(seconds) * 1_000)}`] : []),
    `${Math.round(queries / Math.max(seconds, 0.001))} queries/s`,
    ...(share > 0 ? [`${share} % made by search lists`] : []),
    ...(sampling > 1 ? [`1 query of ${sampling} counted`] : []),
    ...(lost > 0 ? [`${lost} left out`] : []),
  ].join(', ');
}
