/**
 * `portolan diff`: what changes from one configuration to another, in the plan and in the answers to replayed questions. Nothing is
 * asked upstream.
 */
import { createReadStream, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { readListLine } from '@portolan/ops/compare/asked-question.ts';
import { LeftOut, questionsOfLines } from '@portolan/ops/compare/question-source.ts';
import { type ComparisonReport, renderReport } from '@portolan/ops/compare/render-report.ts';
import { markForwarding } from '@portolan/ops/diff/mark-forwarding.ts';
import { changesBetween, type PlanChange } from '@portolan/ops/diff/plan-changes.ts';
import { DIFF_FLAGS, type DiffPlan, planFromDiffFlags } from '@portolan/ops/diff/settings/diff-flags.ts';
import { EmbeddedResponder } from '@portolan/ops/shadow/embedded-responder.ts';
import { CONFIG_KEYS } from '@portolan/server/settings/config-map/config-map.ts';
import type { RunCommand } from '../grammar/command.ts';
import { runCommandLine } from '../grammar/command-line.ts';
import { ExitError } from '../grammar/exit.ts';
import { exitOnProblems } from '../grammar/exit-on-problems.ts';
import { fail } from './control-output.ts';
import { dropSideEffects } from './drop-side-effects.ts';
import { type OfflineSettings, openOffline, readOffline } from './offline-plan.ts';
import { STANDARD_INPUT } from './read-text.ts';
import { compareAnswers } from './run-comparison.ts';

const COMMAND = 'diff';
const SIDES = ['old', 'new'] as const;
/** Questions in a second: nothing but this process is asked. */
const RATE = 100_000;
/** Milliseconds. */
const TIMEOUT = 5_000;

export const runDiff: RunCommand = async (words, command) => {
  const operands = [
    { form: '<old>', help: 'Corefile, folder with the ConfigMap of kube-dns, or folder of manifests' },
    { form: '<new>', help: 'the same, as it would be' },
  ];
  const form = { ...command, flags: DIFF_FLAGS, operands };
  return await runCommandLine(words, form, async (flags, [old = '', next = '']) => {
    await diff([old, next], exitOnProblems(COMMAND, planFromDiffFlags(flags)));
  });
};

type ComparedPaths = readonly [old: string, next: string];

/** @throws ExitError with 1 if there are differences, with 2 if the configurations cannot be read, as diff does */
async function diff(paths: ComparedPaths, plan: DiffPlan): Promise<void> {
  const kinds = paths.map(describeInput);
  if (kinds[0] !== kinds[1])
    fail(COMMAND, `${paths[0]} is ${kinds[0]}, ${paths[1]} is ${kinds[1]}. Give two of a kind.`, 2);
  if (kinds[0] === MANIFESTS && plan.manifests !== undefined)
    fail(COMMAND, '--manifests: not beside two folders of manifests. Leave it out.', 2);
  const empty = mkdtempSync(join(tmpdir(), 'portolan-diff-'));
  try {
    const old = toOfflineSettings(paths[0], plan, empty);
    const next = toOfflineSettings(paths[1], plan, empty);
    const changes = await orFail(async () => changesBetween(await readOffline(old), await readOffline(next)));
    const report =
      plan.replay === undefined ? undefined : await replay(paths, [old, next], plan.replay, plan);
    print(changes, report, plan.output);
    if (changes.length > 0 || (report?.counts.different ?? 0) > 0) throw new ExitError(1);
  } finally {
    rmSync(empty, { recursive: true });
  }
}

const MANIFESTS = 'a folder of manifests';
const CONFIG_MAP = 'a ConfigMap of kube-dns';

function describeInput(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) fail(COMMAND, `${path}: no such file or folder`, 2);
  if (!stats.isDirectory()) return 'a Corefile';
  return CONFIG_KEYS.some((key) => existsSync(join(path, key))) ? CONFIG_MAP : MANIFESTS;
}

/** @param empty a folder without manifests: a cluster without objects */
function toOfflineSettings(
  path: string,
  { kubeconfig, manifests }: DiffPlan,
  empty: string,
): OfflineSettings {
  const cluster = kubeconfig === undefined ? { manifests: manifests ?? empty } : { kubeconfig };
  switch (describeInput(path)) {
    case MANIFESTS:
      return { manifests: path };
    case CONFIG_MAP:
      return { ...cluster, kubeDns: ['--config-dir', path] };
    default:
      return { ...cluster, corefile: path };
  }
}

async function replay(
  places: ComparedPaths,
  sides: readonly [OfflineSettings, OfflineSettings],
  file: string,
  { maxExamples }: DiffPlan,
): Promise<ComparisonReport> {
  const leftOut = new LeftOut();
  const open = async (settings: OfflineSettings) => {
    const server = await openOffline(settings, (plan) => markForwarding(dropSideEffects(plan)));
    await server.start();
    return new EmbeddedResponder(server, TIMEOUT, systemClock);
  };
  const answerers = await orFail(async () => [await open(sides[0]), await open(sides[1])] as const);
  const input = file === STANDARD_INPUT ? process.stdin : createReadStream(file);
  return await compareAnswers(
    COMMAND,
    { rate: RATE, maxQuestions: undefined, maxExamples },
    {
      answerers,
      sides: SIDES,
      places,
      leftOut,
      // Both sides are Portolan.
      findDeviation: () => undefined,
      questions: questionsOfLines(input, readListLine, leftOut),
    },
  );
}

/** @throws ExitError with 2, after the reason is printed */
async function orFail<Result>(run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof ExitError || !(error instanceof Error)) throw error;
    return fail(COMMAND, error.message, 2);
  }
}

function print(
  changes: readonly PlanChange[],
  report: ComparisonReport | undefined,
  output: DiffPlan['output'],
): void {
  if (output === 'json') {
    const replayed = report && { replay: { ...report, roundTrips: undefined } };
    process.stdout.write(`${JSON.stringify({ kind: 'PlanDifference', changes, ...replayed })}\n`);
    return;
  }
  for (const { where, what } of changes) process.stdout.write(`${where}: ${what}\n`);
  if (report !== undefined)
    process.stdout.write(`${changes.length > 0 ? '\n' : ''}${renderReport({ ...report, roundTrips: {} })}`);
}
