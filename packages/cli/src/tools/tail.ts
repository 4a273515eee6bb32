/**
 * `portolan tail`: shows the queries that a running server answers, one line each.
 */
import type { WatchedQuery } from '@portolan/ops/control/query-stream.ts';
import { TAIL_FLAGS, type WatchFlags } from '@portolan/ops/control/settings/control-flags.ts';
import { type EventFilter, readControlOrder } from '@portolan/ops/control/settings/control-order.ts';
import type { TimeSpan } from '@portolan/server/history/history-record.ts';
import type { Paint } from '@portolan/server/reasons/render-explanation.ts';
import type { FlagsOf } from '@portolan/server/settings/flags/flag.ts';
import { describeProblem } from '@portolan/server/settings/values/problem.ts';
import type { RunCommand } from '../grammar/command.ts';
import { runCommandLine } from '../grammar/command-line.ts';
import { printPiece } from '../process/outputs.ts';
import { choosePaint } from './colours.ts';
import { checkOutput, fail, printRequest } from './control-output.ts';

export const runTail: RunCommand = async (words, command) => {
  return await runCommandLine(words, { ...command, flags: TAIL_FLAGS }, async (flags) => {
    const paint = choosePaint();
    checkOutput(command.name, flags.output);
    const { since, history, ...watch } = flags;
    const { words: asked, filter } = readWatch('tail', watch);
    const { readPastSpan } = await import('./past.ts');
    const span = readPastSpan(command.name, flags);
    if (span !== undefined) await printPast(command.name, span, flags, filter, paint);
    // What is in a file goes on nowhere.
    if (history !== undefined) return;
    await printRequest(command.name, flags, { verb: 'tail', words: asked }, (data) =>
      renderQuery(data, paint),
    );
  });
};

/** Oldest first. */
async function printPast(
  command: string,
  span: TimeSpan,
  flags: FlagsOf<typeof TAIL_FLAGS>,
  filter: EventFilter,
  paint: Paint,
): Promise<void> {
  const { readPast } = await import('./past.ts');
  const { compileRecordFilter } = await import('@portolan/ops/control/past-records.ts');
  const { byStart, readSpan } = await import('@portolan/server/history/history-record.ts');
  const { renderRecord } = await import('@portolan/server/history/render-past.ts');
  const isWanted = compileRecordFilter(filter);
  const records = (await readPast(command, flags, span)).filter(
    (record) => readSpan(record).to >= span.from && isWanted(record),
  );
  records.sort(byStart);
  const isJson = flags.output === 'json';
  for (const record of records)
    await printPiece(isJson ? `${JSON.stringify(record)}\n` : renderRecord(record, paint));
}

/** The flags as words of the protocol, and what they select. @throws ExitError with 2 for values that no server takes */
export function readWatch(
  verb: 'tail' | 'top',
  { socket: _socket, output: _output, once: _once, ...settings }: WatchFlags,
): { readonly words: readonly string[]; readonly filter: EventFilter } {
  const words = Object.entries(settings).flatMap(([name, value]) =>
    [value ?? []].flat().map((each) => `${name}=${each}`),
  );
  const checked = readControlOrder([verb, ...words], 'text');
  if (checked.kind === 'bad') return fail(verb, checked.problems.map(describeProblem).join(' '), 2);
  const { value } = checked;
  if (value.kind !== 'tail' && value.kind !== 'top') throw new Error(`not ${verb}: ${value.kind}`);
  return { words, filter: value.filter };
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
