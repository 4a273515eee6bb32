/**
 * Commands that commander parses: flags, help, exit codes.
 */
import type { Flag } from '@portolan/server/settings/flags/flag.ts';
import { describeProblem } from '@portolan/server/settings/values/problem.ts';
import { Command, CommanderError } from 'commander';
import type { CommandRow } from './command.ts';
import { ExitError } from './exit.ts';
import { addOptions } from './options.ts';

/** @returns a parser with the name, summary, flags and help of a command */
export function createParser({ name, summary }: CommandRow, flags: readonly Flag[] = []): Command {
  const parser = new Command(`portolan ${name}`)
    .description(summary)
    .helpCommand(false)
    .configureOutput({ outputError: (text, write) => write(describeFault(name, text)) })
    .exitOverride();
  addOptions(parser, flags);
  return parser;
}

/** Texts of commander, with what they are about. */
const FAULTS: readonly (readonly [form: RegExp, fault: string, all: string])[] = [
  [/^unknown option '([^'=]+)/, 'unknown flag', 'flags'],
  [/^unknown command '([^']+)'/, 'unknown command', 'commands'],
];

/** commander's message in the style of all others: the flag or command, the fault, and the remedy. */
export function describeFault(command: string, text: string): string {
  const [message = '', hint = ''] = text
    .replace(/^error: /, '')
    .trim()
    .split('\n');
  const nearest = /^\(Did you mean (?:one of )?([^,?]+)/.exec(hint)?.[1];
  for (const [form, fault, all] of FAULTS) {
    const where = form.exec(message)?.[1];
    if (where === undefined) continue;
    const remedy =
      nearest === undefined ? `See 'portolan ${command} --help' for all ${all}.` : `Did you mean ${nearest}?`;
    return `portolan ${command}: ${describeProblem({ where, fault, value: undefined, remedy })}\n`;
  }
  return `portolan ${command}: ${message.replace(/\.$/, '')}. See 'portolan ${command} --help'.\n`;
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
