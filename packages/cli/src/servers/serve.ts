/**
 * `portolan serve`: the all-in-one server.
 */
import { SERVE_FLAGS, type ServeFlags } from '@portolan/frontends/serve/settings/serve-flags.ts';
import type { ServePlan } from '@portolan/frontends/serve/settings/serve-options.ts';
import { planFromFlags } from '@portolan/frontends/serve/settings/serve-plan.ts';
import { countCores } from '@portolan/server/settings/cores.ts';
import type { RunCommand } from '../grammar/command.ts';
import { ExitError } from '../grammar/exit.ts';
import { createParser, runParser } from '../grammar/parser.ts';
import { describeUnknownArguments } from '../grammar/unknown-arguments.ts';
import { listProblems } from '../process/print-problems.ts';
import { createProcessSources } from './dnsmasq-sources.ts';
import { runServer } from './run-server.ts';

export const runServe: RunCommand = async (words, command) => {
  const parser = createParser(command, SERVE_FLAGS)
    // Unknown arguments are reported together with wrong values.
    .allowUnknownOption()
    .allowExcessArguments()
    .usage('[flags]');
  let code = 0;
  parser.action(async (flags: ServeFlags) => {
    code = await runServer(planOrExit(flags, parser.args), 'serve');
  });
  return (await runParser(parser, words)) || code;
};

function planOrExit(flags: ServeFlags, leftOver: readonly string[]): ServePlan {
  const machine = { cores: countCores(), terminal: process.stderr.isTTY === true, environment: process.env };
  const checked = planFromFlags(flags, machine, createProcessSources());
  const problems = [
    ...describeUnknownArguments(leftOver, SERVE_FLAGS, 'serve'),
    ...(checked.kind === 'bad' ? checked.problems : []),
  ];
  if (checked.kind === 'good' && problems.length === 0) return checked.value;
  listProblems('serve', 'flags', problems);
  throw new ExitError(2);
}
