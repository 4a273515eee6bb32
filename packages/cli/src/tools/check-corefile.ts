/**
 * Prints the problems and warnings of a Corefile, and the deviations that it meets.
 */
import { DISK_FILES } from '@portolan/corefile/syntax/corefile-files.ts';
import {
  describeCorefileProblem,
  describeCorefileWarning,
  sortByLine,
} from '@portolan/corefile/syntax/findings.ts';
import { type CheckFlags, planFromCheckFlags } from '@portolan/frontends/coredns/settings/check-flags.ts';
import { findMetDeviations, type MetDeviation } from '@portolan/frontends/coredns/settings/differences.ts';
import { type CorefileReading, readCorefile } from '@portolan/frontends/coredns/settings/read-corefile.ts';
import { ExitError } from '../grammar/exit.ts';
import { exitOnProblems } from '../grammar/exit-on-problems.ts';
import { loadPluginsOrExit } from '../servers/load-outside-plugins.ts';
import { addressesByInterface } from '../servers/machine-interfaces.ts';
import { readCorefileText, STANDARD_INPUT } from './read-text.ts';

/** @throws ExitError with 1 if there are problems or the file is missing, with 2 for wrong flags */
export async function checkCorefile(file: string, flags: CheckFlags): Promise<void> {
  const plan = exitOnProblems('corefile check', planFromCheckFlags(flags));
  await loadPluginsOrExit(flags);
  const reading = readCorefile(readCorefileText(file), {
    ...plan,
    file: file === STANDARD_INPUT ? 'stdin' : file,
    environment: process.env,
    files: DISK_FILES,
    interfaces: addressesByInterface(),
  });
  process.stdout.write(report(reading));
  if (flags.compat !== undefined && reading.kind === 'good')
    process.stdout.write(reportDeviations(findMetDeviations(reading.blocks, plan.restored)));
  if (reading.kind === 'bad') throw new ExitError(1);
}

function report(reading: CorefileReading): string {
  const problems = reading.kind === 'bad' ? reading.problems : [];
  const lines = [
    ...sortByLine(problems).map(describeCorefileProblem),
    ...sortByLine(reading.warnings).map((warning) => `[WARNING] ${describeCorefileWarning(warning)}`),
    `${count(problems.length, 'problem')}, ${count(reading.warnings.length, 'warning')}`,
  ];
  return `${lines.join('\n')}\n`;
}

/** One line for each, in columns. */
function reportDeviations(met: readonly MetDeviation[]): string {
  const width = Math.max(0, ...met.map(({ id }) => id.length));
  const lines = met.map(({ id, state, text }) => `  ${id.padEnd(width)}  ${state.padEnd(8)}  ${text}`);
  return ['Deviations from CoreDNS that the Corefile meets:', ...lines, ''].join('\n');
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
