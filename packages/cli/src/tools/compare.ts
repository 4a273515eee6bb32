/**
 * `portolan compare`: asks two servers the same questions, and reports how their answers differ.
 */

import { createReadStream } from 'node:fs';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { formatSocketAddress } from '@portolan/kernel/base/socket-address.ts';
import { readListLine } from '@portolan/ops/compare/asked-question.ts';
import { AskedServer } from '@portolan/ops/compare/asked-server.ts';
import { findDeviation } from '@portolan/ops/compare/known-deviations.ts';
import { LeftOut, questionsOfLines } from '@portolan/ops/compare/question-source.ts';
import {
  COMPARE_FLAGS,
  type ComparePlan,
  planFromCompareFlags,
  type ServerPlace,
} from '@portolan/ops/compare/settings/compare-flags.ts';
import type { RunCommand } from '../grammar/command.ts';
import { runCommandLine } from '../grammar/command-line.ts';
import { exitOnProblems } from '../grammar/exit-on-problems.ts';
import { runComparison } from './run-comparison.ts';

const COMMAND = 'compare';
const SIDES = ['A', 'B'] as const;

export const runCompare: RunCommand = async (words, command) => {
  const operands = [
    {
      form: '<A>',
      help: 'address of the server that runs today, as 10.96.0.10, 127.0.0.1:53 or tcp://[::1]:53',
    },
    { form: '<B>', help: 'address of the server that is compared with it' },
  ];
  const form = { ...command, flags: COMPARE_FLAGS, operands };
  return await runCommandLine(words, form, async (flags, [one = '', other = '']) => {
    await compare(exitOnProblems(COMMAND, planFromCompareFlags([one, other], flags)));
  });
};

async function compare({ servers, file, ...plan }: ComparePlan): Promise<void> {
  const [one, other] = servers;
  const ask = (place: ServerPlace) => new AskedServer(place, plan.timeout, systemClock);
  const leftOut = new LeftOut();
  const input = file === undefined ? process.stdin : createReadStream(file);
  await runComparison(COMMAND, plan, {
    answerers: [ask(one), ask(other)],
    sides: SIDES,
    findDeviation,
    places: [describePlace(one), describePlace(other)],
    questions: questionsOfLines(input, readListLine, leftOut),
    leftOut,
  });
}

/** `udp://127.0.0.1:53`. */
export function describePlace({ transport, ...socket }: ServerPlace): string {
  return `${transport}://${formatSocketAddress(socket)}`;
}
