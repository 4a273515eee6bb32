/**
 * The command line as a whole: which command runs, and what ends in which exit code.
 *
 * Exit codes: 0 for what went well, 1 for what could not be done, 2 for what was asked wrongly. Each command is loaded only
 * when it runs: some are small containers, and pay for what they load.
 */
import { REPLACEMENTS } from './replacements.ts';

/** @returns the exit code, once the command has ended. */
export async function run(args: readonly string[]): Promise<number> {
  const [name = '', ...words] = args;
  const replacement = Object.hasOwn(REPLACEMENTS, name) ? REPLACEMENTS[name] : undefined;
  if (replacement !== undefined) return (await replacement.load())(words);
  return await (await import('./commands.ts')).runCommand(args);
}
