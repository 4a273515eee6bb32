/**
 * `portolan control`: sends requests to a running server over its control socket.
 */
import { CONTROL_FLAGS } from '@portolan/ops/control/settings/control-flags.ts';
import { ORDERS } from '@portolan/ops/control/settings/control-order.ts';
import type { RunCommand } from '../grammar/command.ts';
import { runCommandLine } from '../grammar/command-line.ts';
import { printRequest } from './control-output.ts';

export const runControl: RunCommand = async (words, command) => {
  const operands = [{ form: '<order...>', help: `${ORDERS.join(', ')}, and their arguments` }];
  const form = { ...command, flags: CONTROL_FLAGS, operands };
  return await runCommandLine(words, form, async (flags, [verb = '', ...further]) => {
    await printRequest(command.name, flags, { verb, words: further });
  });
};
