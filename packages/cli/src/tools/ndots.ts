/**
 * `portolan ndots`: what the search lists of each workload cost, and the smallest change that saves questions and breaks no name.
 */
import { readFileSync } from 'node:fs';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import { asRecord } from '@portolan/kubernetes/objects/trim/fields.ts';
import { compareReports, readReport, type WorkloadProgress } from '@portolan/ops/ndots/compare-reports.ts';
import { CountedQuestions, readQuestions } from '@portolan/ops/ndots/counted-questions.ts';
import { makeReport, type NdotsReport } from '@portolan/ops/ndots/report.ts';
import { NDOTS_FLAGS, type NdotsPlan, planFromNdotsFlags } from '@portolan/ops/ndots/settings/ndots-flags.ts';
import type { RunCommand } from '../grammar/command.ts';
import { runCommandLine } from '../grammar/command-line.ts';
import { ExitError } from '../grammar/exit.ts';
import { exitOnProblems } from '../grammar/exit-on-problems.ts';
import { outputClosed, printPiece } from '../process/outputs.ts';
import { choosePaint } from './colours.ts';
import { fail, requestOrFail } from './control-output.ts';
import { renderKustomize, renderProgress, renderReport } from './render-ndots.ts';

const COMMAND = 'ndots';

export const runNdots: RunCommand = async (words, command) => {
  return await runCommandLine(words, { ...command, flags: NDOTS_FLAGS }, async (flags) => {
    await reportWorkloads(exitOnProblems(COMMAND, planFromNdotsFlags(flags)));
  });
};

/** @throws ExitError after the reason is printed; with 1: a change has not helped */
async function reportWorkloads(plan: NdotsPlan): Promise<void> {
  const { library, goesOn } = plan;
  const objects = await readObjects(plan.evidence);
  let before = plan.before === undefined ? findBefore(objects) : readBefore(plan.before);
  const given = readQuestions(objects);
  if (given !== undefined && goesOn)
    fail(COMMAND, '--watch: the questions are given. Leave it out, or let the server be asked.', 2);
  do {
    const questions = given ?? (await askServer(plan));
    if (outputClosed.aborted) return;
    if (questions.servers === 0) fail(COMMAND, 'no server has said what it was asked. See its log.', 3);
    if (questions.queries === 0)
      fail(COMMAND, 'no question came in this time. Give a longer one, as in --for=5m.', 3);
    const report = makeReport(questions, { objects, library, now: systemClock.now() });
    const progress = before && compareReports(before, report);
    await print(report, progress, plan);
    before ??= report;
    if (!goesOn && progress !== undefined && !hasHelped(progress)) throw new ExitError(1);
  } while (goesOn);
}

/** @throws ExitError with 3, after the reason is printed */
async function readObjects(file: string | undefined): Promise<readonly unknown[]> {
  if (file === undefined) return [];
  const { readEvidence } = await import('./evidence.ts');
  try {
    return readEvidence(file);
  } catch (error) {
    return fail(COMMAND, `--evidence: ${describeError(error)}`, 3);
  }
}

/** @throws ExitError with 3, after the reason is printed */
function readBefore(file: string): NdotsReport {
  let given: unknown;
  try {
    given = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    fail(COMMAND, `--before: ${file}: ${describeError(error)}`, 3);
  }
  return checkReport(file, given);
}

/** @throws ExitError with 3, after the reason is printed */
function checkReport(file: string, given: unknown): NdotsReport {
  const report = readReport(given);
  if (report !== undefined) return report;
  return fail(
    COMMAND,
    `--before: not a report: ${file}. Give what an earlier run with --output=json printed.`,
    3,
  );
}

/** @throws ExitError after the reason is printed */
async function askServer({ socket, time }: NdotsPlan): Promise<CountedQuestions> {
  const questions = new CountedQuestions();
  const request = { verb: 'questions', words: [`for=${time}`] };
  for await (const data of requestOrFail(COMMAND, socket, request)) questions.add(data);
  return questions;
}

/** The earlier report that `kubectl portolan` passes. @throws ExitError with 3, after the reason is printed */
function findBefore(evidence: readonly unknown[]): NdotsReport | undefined {
  for (const document of evidence) {
    const given = asRecord(document)?.['portolanBefore'];
    if (given !== undefined) return checkReport('-', given);
  }
  return undefined;
}

function hasHelped(progress: readonly WorkloadProgress[]): boolean {
  const verdicts = progress.map(({ verdict }) => verdict);
  return verdicts.includes('better') && !verdicts.includes('worse');
}

async function print(
  report: NdotsReport,
  progress: readonly WorkloadProgress[] | undefined,
  { output, rows }: NdotsPlan,
): Promise<void> {
  if (output === 'json') {
    await printPiece(`${JSON.stringify({ ...report, ...(progress && { progress }) })}\n`);
  } else if (output === 'kustomize') {
    await printPiece(renderKustomize(report));
  } else {
    const paint = choosePaint();
    await printPiece(
      `${renderReport(report, rows, paint)}${progress ? renderProgress(progress, paint) : ''}`,
    );
  }
}
