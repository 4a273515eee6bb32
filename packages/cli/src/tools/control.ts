/**
 * `portolan control`: sends requests to a running server over its control socket.
 */
import { CONTROL_FLAGS, type ControlFlags } from '@portolan/ops/control/settings/control-flags.ts';
import { ORDERS } from '@portolan/ops/control/settings/control-order.ts';
import type { RunCommand } from '../grammar/command.ts';
import { createParser, runParser } from '../grammar/parser.ts';
import { printRequest } from './control-output.ts';

export const runControl: RunCommand = async (words, command) => {
  const parser = createParser(command, CONTROL_FLAGS).argument(
    '<order...>',
    `${ORDERS.join(', ')}, and their arguments`,
  );
  parser.action(async ([verb = '', ...further]: readonly string[], flags: ControlFlags) => {
    await printRequest(command.name, flags, { verb, words: further });
  });
  return await runParser(parser, words);
};
