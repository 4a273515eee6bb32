/**
 * `portolan control`: sends orders to a running server over its control socket.
 */
import { CONTROL_FLAGS, type ControlFlags } from '../config/query-log/control-flags.ts';
import type { RunCommand } from './command.ts';
import { ExitError } from './exit.ts';
import { addOptions } from './options.ts';
import { createParser, runParser } from './parser.ts';

export const runControl: RunCommand = async (words, command) => {
  const parser = createParser(command).argument(
    '<order...>',
    'status, log-level LEVEL, query-log off, or query-log on [SETTING=VALUE...]',
  );
  addOptions(parser, CONTROL_FLAGS);
  parser.action(async (order: readonly string[], { socket }: ControlFlags) => {
    if (socket === undefined)
      fail('--socket: not given. Give the path that the server has as --control-socket.');
    const { sendOrder } = await import('../observe/control-socket.ts');
    const answer = await sendOrder(socket, order).catch((error: Error) =>
      fail(`no server: ${error.message}`),
    );
    if (!answer.startsWith('ok')) fail(answer);
    process.stdout.write(`${answer}\n`);
  });
  return await runParser(parser, words);
};

function fail(reason: string): never {
  process.stderr.write(`portolan control: ${reason}\n`);
  throw new ExitError(1);
}
