/**
 * `portolan control`: gives orders to a running server over its control socket.
 */
import type { Command } from 'commander';
import { CONTROL_FLAGS, type ControlFlags } from '../config/query-log/control-flags.ts';
import { COMMAND_SUMMARIES } from './command-summaries.ts';
import { ExitError } from './exit.ts';
import { addOptions } from './options.ts';

export function addControlCommand(program: Command): void {
  const command = program
    .command('control')
    .description(COMMAND_SUMMARIES.control)
    .argument('<order...>', 'status, log-level LEVEL, query-log off, or query-log on [SETTING=VALUE...]');
  addOptions(command, CONTROL_FLAGS);
  command.action(async (words: readonly string[], { socket }: ControlFlags) => {
    if (socket === undefined)
      fail('--socket: not given. Give the path that the server has as --control-socket.');
    const { sendOrder } = await import('../observe/control-socket.ts');
    const answer = await sendOrder(socket, words).catch((error: Error) =>
      fail(`no server: ${error.message}`),
    );
    if (!answer.startsWith('ok')) fail(answer);
    process.stdout.write(`${answer}\n`);
  });
}

function fail(reason: string): never {
  process.stderr.write(`portolan control: ${reason}\n`);
  throw new ExitError(1);
}
