/**
 * The command line as a whole: which command runs, and which exit code it ends with.
 *
 * Exit codes: 0 for what went well, 1 for what could not be done, 2 for what was asked wrongly.
 */
import { COMMANDS } from './command-table.ts';
import { prepareFirstReader } from './first-reader.ts';

/** @returns the exit code, once the command has ended. */
export async function run(args: readonly string[]): Promise<number> {
  const [name, ...words] = args;
  const command = COMMANDS.find((each) => each.name === name);
  if (command === undefined) return await (await import('./no-command.ts')).runNoCommand(args, COMMANDS);
  prepareFirstReader(command, words);
  return await (await command.load())(words, command, COMMANDS);
}
