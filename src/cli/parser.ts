/**
 * Commands that commander parses: flags, help, exit codes.
 */
import { Command, CommanderError } from 'commander';
import type { CommandRow } from './command.ts';
import { ExitError } from './exit.ts';

/** @returns a parser with the name, summary and help of a command */
export function createParser({ name, summary }: CommandRow): Command {
  return new Command(`portolan ${name}`)
    .description(summary)
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .exitOverride();
}

/** @returns the exit code, once the command has ended. */
export async function runParser(parser: Command, words: readonly string[]): Promise<number> {
  try {
    await parser.exitOverride().parseAsync(words, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof ExitError) return error.code;
    // commander throws for help and version too, after it has printed its message.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    throw error;
  }
}
