/**
 * Prints the problems and warnings of a Corefile.
 */
import { readFileSync } from 'node:fs';
import { type CheckFlags, planFromCheckFlags } from '../config/corefile/check-flags.ts';
import { type CorefileReading, readCorefile } from '../config/corefile/read-corefile.ts';
import { describeProblem } from '../config/values/problem.ts';
import { DISK_FILES } from '../corefile/syntax/corefile-files.ts';
import { describeCorefileProblem, describeCorefileWarning } from '../corefile/syntax/findings.ts';
import { describeReadFault } from '../corefile/syntax/importer.ts';
import { ExitError } from './exit.ts';
import { addressesByInterface } from './machine-interfaces.ts';

const STANDARD_INPUT = '-';

/** @throws ExitError with 1 if there are problems or the file is missing, with 2 for wrong flags */
export function checkCorefile(file: string, flags: CheckFlags): void {
  const checked = planFromCheckFlags(flags);
  if (checked.kind === 'bad') {
    process.stderr.write('portolan corefile check: problems with the flags\n');
    for (const problem of checked.problems) process.stderr.write(`  ${describeProblem(problem)}\n`);
    throw new ExitError(2);
  }
  const reading = readCorefile(readText(file), {
    ...checked.value,
    file: file === STANDARD_INPUT ? 'stdin' : file,
    environment: process.env,
    files: DISK_FILES,
    interfaces: addressesByInterface(),
  });
  process.stdout.write(report(reading));
  if (reading.kind === 'bad') throw new ExitError(1);
}

function readText(file: string): string {
  try {
    return readFileSync(file === STANDARD_INPUT ? 0 : file, 'utf8');
  } catch (error) {
    const reason = describeReadFault(error);
    process.stderr.write(
      `loading Caddyfile via flag: open ${file}: ${reason}\n  Name a Corefile that can be read.\n`,
    );
    throw new ExitError(1);
  }
}

function report(reading: CorefileReading): string {
  const problems = reading.kind === 'bad' ? reading.problems : [];
  const lines = [
    ...problems.map(describeCorefileProblem),
    ...reading.warnings.map((warning) => `[WARNING] ${describeCorefileWarning(warning)}`),
    `${count(problems.length, 'problem')}, ${count(reading.warnings.length, 'warning')}`,
  ];
  return `${lines.join('\n')}\n`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
