/**
 * Runs a comparison until its questions end or a stop signal comes, and prints the report.
 */
import { systemClock } from '@portolan/kernel/base/clock.ts';
import type { AskedQuestion } from '@portolan/ops/compare/asked-question.ts';
import { Comparison, SilentSideError } from '@portolan/ops/compare/comparison.ts';
import type { FindDeviation, Sides } from '@portolan/ops/compare/judge-replies.ts';
import type { QueryResponder } from '@portolan/ops/compare/query-responder.ts';
import type { LeftOut } from '@portolan/ops/compare/question-source.ts';
import { type ComparisonReport, makeReport, renderReport } from '@portolan/ops/compare/render-report.ts';
import type { ComparisonPlan } from '@portolan/ops/compare/settings/compare-flags.ts';
import { Tally } from '@portolan/ops/compare/tally.ts';
import { ExitError } from '../grammar/exit.ts';
import { holdProcess } from '../process/hold-process.ts';
import { onStopSignal } from '../process/signals.ts';
import { fail } from './control-output.ts';

export interface Compared {
  readonly answerers: readonly [QueryResponder, QueryResponder];
  readonly sides: Sides;
  readonly findDeviation: FindDeviation;
  /** What the sides stand for. */
  readonly places: readonly [string, string];
  readonly questions: AsyncIterable<AskedQuestion>;
  readonly leftOut: LeftOut;
  /** Called after the last question. @returns microseconds for each question, by what they were spent on */
  readonly processorTime?: (questions: number) => Readonly<Record<string, number>>;
}

/**
 * Prints the report of a comparison.
 *
 * @throws ExitError with 1 for differences, with 2 if a side cannot be asked or the questions cannot be read
 */
export async function runComparison(
  command: string,
  plan: ComparisonPlan,
  compared: Compared,
): Promise<void> {
  const report = await compareAnswers(command, plan, compared);
  process.stdout.write(plan.output === 'json' ? `${JSON.stringify(report)}\n` : renderReport(report));
  const { different, known } = report.counts;
  if (different - (plan.acceptsDocumented ? known : 0) > 0) throw new ExitError(1);
}

/** @throws ExitError with 2, after the reason is printed */
export async function compareAnswers(
  command: string,
  plan: Pick<ComparisonPlan, 'rate' | 'maxQuestions' | 'maxExamples'>,
  compared: Compared,
): Promise<ComparisonReport> {
  const { answerers, sides, findDeviation, places, questions, leftOut, processorTime } = compared;
  const { rate, maxQuestions, maxExamples } = plan;
  const tally = new Tally(maxExamples);
  const clock = systemClock;
  const comparison = new Comparison({ answerers, sides, findDeviation, rate, maxQuestions, tally, clock });
  const stopped = new AbortController();
  onStopSignal(() => {
    comparison.stop();
    stopped.abort();
  });
  try {
    await holdProcess(() => comparison.run(until(questions, stopped.signal)));
  } catch (error) {
    fail(command, describeFailure(error, places), 2);
  } finally {
    for (const answerer of answerers) await answerer.close();
  }
  const counted = tally.count();
  if (counted.questions === 0) fail(command, `no questions${describeLeftOut(leftOut)}`, 2);
  const times = processorTime?.(counted.questions);
  return makeReport({ sides, places, counted, leftOut, ...(times && { processorTime: times }) });
}

function describeFailure(error: unknown, places: readonly [string, string]): string {
  if (error instanceof SilentSideError)
    return `${places[error.side]}: ${error.message}. Check address, port and protocol, or give a longer --timeout.`;
  if (error instanceof Error && 'code' in error) return `the questions cannot be read: ${error.message}`;
  throw error;
}

function describeLeftOut({ count, first }: LeftOut): string {
  return count === 0
    ? '. Give lines NAME [TYPE].'
    : `: ${count} items were left out, first ${first}. Give lines NAME [TYPE].`;
}

/** The items until a signal: a live source may have no next one. */
async function* until<Item>(items: AsyncIterable<Item>, signal: AbortSignal): AsyncGenerator<Item> {
  const iterator = items[Symbol.asyncIterator]();
  let abort = (): void => {};
  signal.addEventListener('abort', () => abort());
  while (!signal.aborted) {
    const next = await new Promise<IteratorResult<Item> | undefined>((resolve, reject) => {
      abort = () => resolve(undefined);
      iterator.next().then(resolve, reject);
    });
    if (next?.done === true) return;
    if (next !== undefined) yield next.value;
  }
  // Not awaited: its pending read may never end.
  void iterator.return?.();
}
