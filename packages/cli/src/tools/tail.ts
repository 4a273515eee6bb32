/**
 * `portolan tail`: shows the queries that a running server answers, one line each.
 */
import type { WatchedQuery } from '@portolan/ops/control/query-stream.ts';
import { TAIL_FLAGS, type WatchFlags } from '@portolan/ops/control/settings/control-flags.ts';
import { readControlOrder } from '@portolan/ops/control/settings/control-order.ts';
import type { TimeSpan } from '@portolan/server/history/history-record.ts';
import type { Paint } from '@portolan/server/reasons/render-explanation.ts';
import type { FlagsOf } from '@portolan/server/settings/flags/flag.ts';
import { describeProblem } from '@portolan/server/settings/values/problem.ts';
import type { RunCommand } from '../grammar/command.ts';
import { runCommandLine } from '../grammar/command-line.ts';
import { printPiece } from '../process/outputs.ts';
import { choosePaint } from './colours.ts';
import { fail, printRequest } from './control-output.ts';

export const runTail: RunCommand = async (words, command) => {
  return await runCommandLine(words, { ...command, flags: TAIL_FLAGS }, async (flags) => {
    const paint = choosePaint();
    const { since, history, ...watch } = flags;
    const request = { verb: 'tail', words: readWatchWords('tail', watch) };
    const { readPastSpan } = await import('./past.ts');
    const span = readPastSpan(command.name, flags);
    if (span !== undefined) await printPast(command.name, span, flags, paint);
    // What is in a file goes on nowhere.
    if (history !== undefined) return;
    await printRequest(command.name, flags, request, (data) => renderQuery(data, paint));
  });
};

/** Oldest first. */
async function printPast(
  command: string,
  span: TimeSpan,
  { since, history, ...watch }: FlagsOf<typeof TAIL_FLAGS>,
  paint: Paint,
): Promise<void> {
  const { readPast } = await import('./past.ts');
  const { compileRecordFilter } = await import('@portolan/ops/control/past-records.ts');
  const { readSpan } = await import('@portolan/server/history/history-record.ts');
  const { renderRecord } = await import('@portolan/server/history/render-past.ts');
  const order = readControlOrder(['tail', ...toWatchWords(watch)], 'text');
  if (order.kind === 'bad' || order.value.kind !== 'tail') return;
  const isWanted = compileRecordFilter(order.value.filter);
  const records = (await readPast(command, { since, history, ...watch }, span)).filter(
    (record) => readSpan(record).to >= span.from && isWanted(record),
  );
  records.sort((one, other) => readSpan(one).from - readSpan(other).from);
  const isJson = watch.output === 'json';
  for (const record of records)
    await printPiece(isJson ? `${JSON.stringify(record)}\n` : renderRecord(record, paint));
}

/** The flags as words of the protocol. @throws ExitError with 2 for values that no server takes */
export function readWatchWords(verb: 'tail' | 'top', flags: WatchFlags): readonly string[] {
  const words = toWatchWords(flags);
  const checked = readControlOrder([verb, ...words], 'text');
  if (checked.kind === 'bad') fail(verb, checked.problems.map(describeProblem).join(' '), 2);
  return words;
}

function toWatchWords({
  socket: _socket,
  output: _output,
  once: _once,
  ...settings
}: WatchFlags): readonly string[] {
  return Object.entries(settings).flatMap(([name, value]) =>
    [value ?? []].flat().map((each) => `${name}=${each}`),
  );
}

function renderQuery(data: unknown, paint: Paint): string {
  const query = data as WatchedQuery | { readonly lost: number }; // The server is of the same version.
  if ('lost' in query) return paint('faint', `${query.lost} queries left out: there were too many\n`);
  const { time, client, name, type, rcode, answers, source, milliseconds, reason } = query;
  const isGood = rcode === 'NOERROR' && answers > 0;
  const result = rcode === 'NOERROR' && answers === 0 ? 'NODATA' : rcode;
  const words = [
    paint('faint', time.slice(11, 23)),
    client.padEnd(15),
    `${name} ${type}`,
    paint(isGood ? 'good' : 'bad', result),
    source,
    `${milliseconds} ms`,
    ...(reason === undefined ? [] : [paint('bad', reason)]),
  ];
  return `${words.join('  ')}\n`;
}
