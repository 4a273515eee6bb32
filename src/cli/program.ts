/**
 * The command line as a whole: which command runs, and which exit code it ends with.
 *
 * Exit codes: 0 for what went well, 1 for what could not be done, 2 for what was asked wrongly. Each command is loaded only
 * when it runs, since some run in small containers.
 */
import { prepareFirstReader } from './first-reader.ts';
import { loadReplacement } from './replacements.ts';

/** @returns the exit code, once the command has ended. */
export async function run(args: readonly string[]): Promise<number> {
  const [name = '', ...words] = args;
  prepareFirstReader(args);
  const replacement = await loadReplacement(name);
  if (replacement !== undefined) return await replacement(words);
  return await (await import('./commands.ts')).runCommand(args);
}
