/**
 * `portolan serve`: the all-in-one server.
 */
import { SERVE_FLAGS } from '@portolan/frontends/serve/settings/serve-flags.ts';
import type { RunCommand } from '../grammar/command.ts';
import { formatHelp, readCommandLine } from '../grammar/command-line.ts';
import { listProblems } from '../process/print-problems.ts';
import { checkServeFlags } from './check-serve-flags.ts';
import { runServer } from './run-server.ts';

export const runServe: RunCommand = async (words, command) => {
  const form = { ...command, flags: SERVE_FLAGS };
  const line = readCommandLine(words, form);
  if (line.kind === 'help') {
    process.stdout.write(formatHelp(form));
    return 0;
  }
  const place = { terminal: process.stderr.isTTY === true, environment: process.env };
  const checked = checkServeFlags(line, place);
  if (checked.kind === 'good') return await runServer(checked.value, 'serve');
  listProblems('serve', 'flags', checked.problems);
  return 2;
};
