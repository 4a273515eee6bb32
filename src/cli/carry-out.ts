/**
 * Carries out orders from the control socket: the log level and the query log.
 */
import type { LogPlan } from '../config/plan.ts';
import { type ControlOrder, readControlOrder } from '../config/query-log/control-order.ts';
import { describeProblem } from '../config/values/problem.ts';
import type { AdjustableLog } from '../observe/log.ts';
import type { QueryLog } from '../observe/query-events/query-log.ts';

export interface Controlled {
  readonly log: AdjustableLog;
  readonly queryLog: QueryLog;
  /** The format of the log, and the default format of the query log. */
  readonly format: LogPlan['format'];
}

/** @returns the reply @throws Error with the fault of the order, or the reason why it failed */
export async function carryOut(words: readonly string[], controlled: Controlled): Promise<string> {
  const checked = readControlOrder(words, controlled.format);
  if (checked.kind === 'bad') throw new Error(checked.problems.map(describeProblem).join(' '));
  await obey(checked.value, controlled);
  return describe(controlled);
}

async function obey(order: ControlOrder, { log, queryLog }: Controlled): Promise<void> {
  switch (order.kind) {
    case 'status':
      return;
    case 'log-level':
      log.level = order.level;
      return;
    case 'query-log':
      await queryLog.change(order.plan);
  }
}

function describe({ log, queryLog }: Controlled): string {
  const { plan, dropped } = queryLog;
  const texts = [`log-level=${log.level}`, `query-log=${plan === undefined ? 'off' : (plan.file ?? '-')}`];
  if (plan !== undefined) texts.push(`format=${plan.settings.format}`, `sample=${plan.settings.sample}`);
  return [...texts, `dropped=${dropped}`].join(' ');
}
