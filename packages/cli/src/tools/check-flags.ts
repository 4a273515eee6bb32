/**
 * Checks whether a command would accept the given flags.
 */
import { readDnsmasqOptions } from '@portolan/frontends/dnsmasq/settings/read-configuration.ts';
import { SERVE_FLAGS, type ServeFlags } from '@portolan/frontends/serve/settings/serve-flags.ts';
import { planFromFlags } from '@portolan/frontends/serve/settings/serve-plan.ts';
import { countCores } from '@portolan/server/settings/cores.ts';
import type { Problem } from '@portolan/server/settings/values/problem.ts';
import { Command } from 'commander';
import { ExitError } from '../grammar/exit.ts';
import { addOptions } from '../grammar/options.ts';
import { describeUnknownArguments } from '../grammar/unknown-arguments.ts';
import { printProblems } from '../process/print-problems.ts';
import { createProcessSources } from '../servers/dnsmasq-sources.ts';
import type { UnitCommand } from './systemd-unit.ts';

/** @throws ExitError if it would not, after the problems are printed */
export function checkFlags(command: UnitCommand, flags: readonly string[]): void {
  const problems = command === 'serve' ? problemsOfServe(flags) : problemsOfDnsmasq(flags);
  if (problems.length === 0) return;
  printProblems(`systemd ${command}`, problems);
  throw new ExitError(2);
}

function problemsOfServe(flags: readonly string[]): readonly Problem[] {
  const parser = new Command('serve').exitOverride().allowUnknownOption().allowExcessArguments();
  addOptions(parser, SERVE_FLAGS);
  parser.parse(flags, { from: 'user' });
  const machine = { cores: countCores(), terminal: false, environment: {} };
  const checked = planFromFlags(parser.opts<ServeFlags>(), machine, createProcessSources());
  return [
    ...describeUnknownArguments(parser.args, SERVE_FLAGS, 'serve'),
    ...(checked.kind === 'bad' ? checked.problems : []),
  ];
}

function problemsOfDnsmasq(flags: readonly string[]): readonly Problem[] {
  const reading = readDnsmasqOptions(flags, createProcessSources());
  return reading.kind === 'bad' ? reading.problems : [];
}
