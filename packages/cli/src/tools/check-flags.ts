/**
 * Checks whether a command would accept the given flags.
 */
import { readDnsmasqOptions } from '@portolan/frontends/dnsmasq/settings/read-configuration.ts';
import { SERVE_FLAGS } from '@portolan/frontends/serve/settings/serve-flags.ts';
import type { Problem } from '@portolan/server/settings/values/problem.ts';
import { readCommandLine } from '../grammar/command-line.ts';
import { ExitError } from '../grammar/exit.ts';
import { printProblems } from '../process/print-problems.ts';
import { checkServeFlags } from '../servers/check-serve-flags.ts';
import { createProcessSources } from '../servers/dnsmasq-sources.ts';
import type { UnitCommand } from './systemd-unit.ts';

/** @throws ExitError if it would not, after the problems are printed */
export function checkFlags(command: UnitCommand, flags: readonly string[]): void {
  const problems = command === 'serve' ? listServeProblems(flags) : listDnsmasqProblems(flags);
  if (problems.length === 0) return;
  printProblems(`systemd ${command}`, problems);
  throw new ExitError(2);
}

function listServeProblems(flags: readonly string[]): readonly Problem[] {
  const line = readCommandLine(flags, { name: 'serve', summary: '', flags: SERVE_FLAGS });
  if (line.kind === 'help') return [];
  const checked = checkServeFlags(line, { terminal: false, environment: {} });
  return checked.kind === 'bad' ? checked.problems : [];
}

function listDnsmasqProblems(flags: readonly string[]): readonly Problem[] {
  const reading = readDnsmasqOptions(flags, createProcessSources());
  return reading.kind === 'bad' ? reading.problems : [];
}
