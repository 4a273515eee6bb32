/**
 * `portolan serve`: the all-in-one server.
 */
import type { Command } from 'commander';
import { countCores } from '../config/cores.ts';
import type { ServerPlan } from '../config/plan.ts';
import { describeProblem, type Problem } from '../config/problem.ts';
import { planFromFlags, type ServeFlags } from '../config/serve-flags.ts';
import { createProcessSources } from './dnsmasq-sources.ts';
import { ExitError } from './exit.ts';
import { runServer } from './run-server.ts';
import { complainOfLeftOver, SERVE_OPTIONS } from './serve-options.ts';

export function addServeCommand(program: Command): void {
  const command = program
    .command('serve')
    .description('serve the zone of a Kubernetes cluster over UDP and TCP')
    // Left over arguments are complained of here, together with wrong values.
    .allowUnknownOption()
    .allowExcessArguments()
    .usage('[flags]');
  for (const option of SERVE_OPTIONS) command.addOption(option);
  command.action((flags: ServeFlags) => runServer(planOrExit(flags, command.args), 'serve'));
}

function planOrExit(flags: ServeFlags, leftOver: readonly string[]): ServerPlan {
  const machine = { cores: countCores(), terminal: process.stderr.isTTY === true, environment: process.env };
  const checked = planFromFlags(flags, machine, createProcessSources());
  const problems = [...complainOfLeftOver(leftOver), ...(checked.kind === 'bad' ? checked.problems : [])];
  if (checked.kind === 'good' && problems.length === 0) return checked.value;
  reportProblems(problems);
  throw new ExitError(2);
}

function reportProblems(problems: readonly Problem[]): void {
  const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`;
  process.stderr.write(`portolan serve: ${count} with the flags\n`);
  for (const problem of problems) process.stderr.write(`  ${describeProblem(problem)}\n`);
}
