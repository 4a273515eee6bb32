/**
 * Commands whose first word is a command of its own.
 */
import { findNearest } from '@portolan/kernel/base/nearest.ts';
import { formatRows } from '@portolan/server/settings/flags/flag-text.ts';
import { helpRow } from '@portolan/server/settings/flags/klog-flags.ts';
import { describeProblem } from '@portolan/server/settings/values/problem.ts';
import type { CommandRow } from './command.ts';
import type { CommandForm } from './command-line.ts';
import { formatExamples } from './help-text.ts';

export interface Subcommand {
  readonly form: CommandForm;
  /** @param name the words after `portolan` @returns the exit code */
  run(words: readonly string[], name: string): Promise<number>;
}

/** @returns the exit code */
export async function runSubcommand(
  words: readonly string[],
  { name, summary, examples }: Pick<CommandRow, 'name' | 'summary' | 'examples'>,
  subcommands: readonly Subcommand[],
): Promise<number> {
  const [word, ...others] = words;
  const subcommand = subcommands.find(({ form }) => form.name === word);
  if (word !== undefined && subcommand !== undefined) return await subcommand.run(others, `${name} ${word}`);
  const rows = subcommands.map(({ form }) => [form.name, form.summary] as const);
  const help = `Usage: portolan ${name} <command> [flags]\n\n${summary}\n\n${formatRows([...rows, helpRow('--')])}${formatExamples(examples)}`;
  if (word === '-h' || word === '--help') {
    process.stdout.write(help);
    return 0;
  }
  if (word === undefined) process.stderr.write(help);
  else
    process.stderr.write(
      `portolan ${name}: ${describeUnknownCommand(
        word,
        name,
        rows.map(([each]) => each),
      )}\n`,
    );
  return 2;
}

/** @param command the words after `portolan`; empty: none */
export function describeUnknownCommand(word: string, command: string, known: readonly string[]): string {
  const nearest = findNearest(word, known);
  const all = ['portolan', command, '--help'].filter((each) => each !== '').join(' ');
  const remedy = nearest === undefined ? `See '${all}' for all commands.` : `Did you mean ${nearest}?`;
  return describeProblem({ where: word, fault: 'unknown command', value: undefined, remedy });
}
