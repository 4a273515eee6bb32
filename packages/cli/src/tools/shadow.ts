/**
 * `portolan shadow`: asks the server that runs today the questions that it gets, answers them in this process by the same configuration,
 * and reports how the answers differ.
 */

import { createReadStream } from 'node:fs';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import { formatSocketAddress } from '@portolan/kernel/base/socket-address.ts';
import { type AskedQuestion, readListLine } from '@portolan/ops/compare/asked-question.ts';
import { AskedServer } from '@portolan/ops/compare/asked-server.ts';
import { findDeviation } from '@portolan/ops/compare/known-deviations.ts';
import { LeftOut, questionsOfLines } from '@portolan/ops/compare/question-source.ts';
import type { OfflineServer } from '@portolan/ops/control/offline.ts';
import { questionsOfCapture } from '@portolan/ops/shadow/captured-questions.ts';
import { EmbeddedResponder } from '@portolan/ops/shadow/embedded-responder.ts';
import { LiveQuestions } from '@portolan/ops/shadow/live-questions.ts';
import { readLogLine } from '@portolan/ops/shadow/log-line.ts';
import {
  planFromShadowFlags,
  type QuestionSourcePlan,
  SHADOW_FLAGS,
  type ShadowPlan,
} from '@portolan/ops/shadow/settings/shadow-flags.ts';
import type { RunCommand } from '../grammar/command.ts';
import { runCommandLine } from '../grammar/command-line.ts';
import { exitOnProblems } from '../grammar/exit-on-problems.ts';
import { fail } from './control-output.ts';
import { dropSideEffects } from './drop-side-effects.ts';
import { openOffline } from './offline-plan.ts';
import { STANDARD_INPUT } from './read-text.ts';
import { runComparison } from './run-comparison.ts';

const COMMAND = 'shadow';
const SIDES = ['server', 'own'] as const;

export const runShadow: RunCommand = async (words, command) => {
  const operands = [{ form: '[kube-dns-flags...]', help: 'flags of kube-dns, after --' }];
  const form = { ...command, flags: SHADOW_FLAGS, operands };
  return await runCommandLine(words, form, async (flags, given) => {
    await shadow(exitOnProblems(COMMAND, planFromShadowFlags(flags, given)));
  });
};

async function shadow({ server, own, source, ...plan }: ShadowPlan): Promise<void> {
  const offline = await startOwn(own);
  const leftOut = new LeftOut();
  const { questions, close } = await openSource(source, leftOut);
  const { user, system } = process.cpuUsage();
  try {
    await runComparison(COMMAND, plan, {
      answerers: [
        new AskedServer(server, plan.timeout, systemClock),
        new EmbeddedResponder(offline, plan.timeout, systemClock),
      ],
      sides: SIDES,
      findDeviation,
      places: [`${server.transport}://${formatSocketAddress(server)}`, describeOwn(own)],
      questions,
      leftOut,
      processorTime(count) {
        const used = process.cpuUsage();
        const total = used.user + used.system - user - system;
        return { 'own, with asking and comparing': total / count };
      },
    });
  } finally {
    close();
  }
}

/** @throws ExitError with 2, after the reason is printed */
async function startOwn(own: ShadowPlan['own']): Promise<OfflineServer> {
  try {
    const server = await openOffline(own, dropSideEffects);
    await server.start();
    return server;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return fail(COMMAND, error.message, 2);
  }
}

function describeOwn({ corefile }: ShadowPlan['own']): string {
  return `portolan in this process, by ${corefile ?? 'the flags of kube-dns'}`;
}

interface OpenSource {
  readonly questions: AsyncIterable<AskedQuestion>;
  close(): void;
}

async function openSource(source: QuestionSourcePlan, leftOut: LeftOut): Promise<OpenSource> {
  if (source.kind === 'dnstap') {
    const questions = new LiveQuestions(leftOut);
    try {
      await questions.listen(source.place);
    } catch (error) {
      fail(COMMAND, `--dnstap: ${describeError(error)}`, 2);
    }
    return { questions, close: () => questions.close() };
  }
  const input = source.file === STANDARD_INPUT ? process.stdin : createReadStream(source.file);
  // It may fail before it is read, which tells the reader.
  input.on('error', () => {});
  const close = () => void input.destroy();
  if (source.kind === 'pcap') return { questions: questionsOfCapture(input, source.port, leftOut), close };
  const readLine = source.kind === 'log' ? readLogLine : readListLine;
  return { questions: questionsOfLines(input, readLine, leftOut), close };
}
