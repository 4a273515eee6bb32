/**
 * `portolan control`: sends requests to a running server over its control socket.
 */
import { CONTROL_FLAGS } from '@portolan/ops/control/settings/control-flags.ts';
import { ORDERS, readControlOrder } from '@portolan/ops/control/settings/control-order.ts';
import type { RunCommand } from '../grammar/command.ts';
import { runCommandLine } from '../grammar/command-line.ts';
import { ExitError } from '../grammar/exit.ts';
import { printProblems } from '../process/print-problems.ts';
import { printRequest } from './control-output.ts';
import { findNothing, findRender } from './control-text.ts';

export const runControl: RunCommand = async (words, command) => {
  const operands = [{ form: '<order...>', help: `${ORDERS.join(', ')}, and their arguments` }];
  const form = { ...command, flags: CONTROL_FLAGS, operands };
  return await runCommandLine(words, form, async (flags, order) => {
    checkOrder(command.name, order);
    const [verb = '', ...further] = order;
    await printRequest(command.name, flags, { verb, words: further }, findRender(order), findNothing(order));
  });
};

/** Before a server is looked for. @throws ExitError after the problems are printed */
function checkOrder(command: string, order: readonly string[]): void {
  const checked = readControlOrder(order, 'text');
  if (checked.kind === 'good') return;
  printProblems(command, checked.problems);
  throw new ExitError(2);
}
