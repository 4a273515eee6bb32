/**
 * The command line: selects the command to run and returns its exit code.
 *
 * Exit codes: 0 for yes or success, 1 for no or failure, 2 for wrong arguments, 3 if nothing could be asked.
 */
import { COMMANDS } from './command-table.ts';
import { endsAtOnce, prepareFirstReader } from './process/first-reader.ts';
import { needOutput } from './process/outputs.ts';

/** @returns the exit code, once the command has ended. */
export async function run(args: readonly string[]): Promise<number> {
  const [name, ...words] = asHelp(args);
  const command = COMMANDS.find((each) => each.name === name);
  if (command === undefined)
    return await (await import('./grammar/no-command.ts')).runNoCommand(asHelp(args), COMMANDS);
  if (command.serves === undefined) needOutput();
  // Before all other code.
  if (command.isProbed === true && !endsAtOnce(words))
    await (await import('./process/early-ports.ts')).openEarlyPorts(command.name, words);
  prepareFirstReader(command.serves, words);
  return await (await command.load())(words, command, COMMANDS);
}

/** `help explain` is `explain --help`. */
function asHelp(args: readonly string[]): readonly string[] {
  const [first, ...words] = args;
  return first === 'help' ? [...words, '--help'] : args;
}
