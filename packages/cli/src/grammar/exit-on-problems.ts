/**
 * Ends a command whose flags have problems, after all of them are printed.
 */
import { type Checked, describeProblem } from '@portolan/server/settings/values/problem.ts';
import { ExitError } from './exit.ts';

/** @throws ExitError with 2 */
export function exitOnProblems<Value>(command: string, checked: Checked<Value>): Value {
  if (checked.kind === 'good') return checked.value;
  process.stderr.write(`portolan ${command}: problems with the flags\n`);
  for (const problem of checked.problems) process.stderr.write(`  ${describeProblem(problem)}\n`);
  throw new ExitError(2);
}
