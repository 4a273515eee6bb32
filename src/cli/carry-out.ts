/**
 * Carries out the orders of the control socket: the level of the log, and the query log.
 */
import type { LogPlan } from '../config/plan.ts';
import { type ControlOrder, readControlOrder } from '../config/query-log/control-order.ts';
import { describeProblem } from '../config/values/problem.ts';
import type { AdjustableLog } from '../observe/log.ts';
import type { QueryLog } from '../observe/query-events/query-log.ts';

export interface Controlled {
  readonly log: AdjustableLog;
  readonly queryLog: QueryLog;
  /** Of the log, and of a query log that is given no other. */
  readonly format: LogPlan['format'];
}

/** @returns the answer @throws Error that says what is wrong with the order, or why it cannot be carried out */
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
