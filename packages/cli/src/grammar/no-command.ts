/**
 * `portolan` without a known command: prints help or the version, and suggests the nearest command.
 */
import { findNearest } from '@portolan/kernel/base/nearest.ts';
import { describeProblem } from '@portolan/server/settings/values/problem.ts';
import { Command } from 'commander';
import { VERSION } from '../process/version.ts';
import type { CommandRow } from './command.ts';
import { runParser } from './parser.ts';

/** @returns the exit code */
export async function runNoCommand(
  args: readonly string[],
  commands: readonly CommandRow[],
): Promise<number> {
  const [word] = args;
  if (word !== undefined && !word.startsWith('-')) {
    const nearest = findNearest(
      word,
      commands.map(({ name }) => name),
    );
    const remedy =
      nearest === undefined ? "See 'portolan --help' for all commands." : `Did you mean ${nearest}?`;
    const problem = { where: word, fault: 'unknown command', value: undefined, remedy };
    process.stderr.write(`portolan: ${describeProblem(problem)}\n`);
    return 2;
  }
  const program = new Command('portolan')
    .description('The DNS server of a Kubernetes cluster.')
    .version(VERSION, '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .enablePositionalOptions();
  // Names and summaries are enough: the arguments do not begin with a known command.
  for (const { name, summary } of commands)
    program
      .command(name)
      .description(summary)
      .action(() => program.help({ error: true }));
  return await runParser(program, args);
}
