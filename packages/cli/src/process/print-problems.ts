/**
 * What a program prints before it serves: its version, the problems with its settings, and why it cannot run.
 */
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import { describeProblem, type Problem } from '@portolan/server/settings/values/problem.ts';
import { VERSION } from './version.ts';

/** @param original the program that it replaces, with its version if that is known */
export function printVersion(original: string): void {
  process.stdout.write(`Portolan version ${VERSION}, in place of ${original}\n`);
}

/** Prints each problem as a message of the command. */
export function printProblems(command: string, problems: readonly Problem[]): void {
  for (const problem of problems) process.stderr.write(`portolan ${command}: ${describeProblem(problem)}\n`);
}

/** Prints how many problems there are, and each on a line of its own. @param settings what they are problems with */
export function listProblems(
  command: string,
  settings: 'flags' | 'options',
  problems: readonly Problem[],
): void {
  const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`;
  process.stderr.write(`portolan ${command}: ${count} with the ${settings}\n`);
  for (const problem of problems) process.stderr.write(`  ${describeProblem(problem)}\n`);
}

/** Prints why the command cannot run, or go on. */
export function printFailure(command: string, error: unknown): void {
  process.stderr.write(`portolan ${command}: ${describeError(error)}\n`);
}
