/**
 * `portolan` without a known command: prints help or the version, and suggests the nearest command.
 */
import { formatRows } from '@portolan/server/settings/flags/flag-text.ts';
import { helpRow } from '@portolan/server/settings/flags/klog-flags.ts';
import { describeProblem, makeUnknownFlagProblem } from '@portolan/server/settings/values/problem.ts';
import { VERSION } from '../process/version.ts';
import type { CommandRow } from './command.ts';
import { describeUnknownCommand } from './subcommands.ts';

/** @returns the exit code */
export async function runNoCommand(
  args: readonly string[],
  commands: readonly CommandRow[],
): Promise<number> {
  const [word] = args;
  if (word === '-h' || word === '--help') {
    process.stdout.write(formatHelp(commands));
    return 0;
  }
  if (word === '--version') {
    process.stdout.write(`${VERSION}\n`);
    return 0;
  }
  process.stderr.write(
    word === undefined ? formatHelp(commands) : `portolan: ${describeFault(word, commands)}\n`,
  );
  return 2;
}

function describeFault(word: string, commands: readonly CommandRow[]): string {
  if (!word.startsWith('-'))
    return describeUnknownCommand(
      word,
      '',
      commands.map(({ name }) => name),
    );
  const remedy = "See 'portolan --help' for all commands.";
  return describeProblem(makeUnknownFlagProblem(word, remedy));
}

function formatHelp(commands: readonly CommandRow[]): string {
  const groups = [...new Set(commands.map(({ group }) => group))];
  const width = Math.max(...commands.map(({ name }) => name.length));
  const listed = groups.map((group) => {
    const members = commands.filter((command) => command.group === group);
    const rows = members.map(({ name, summary }) => [name.padEnd(width), summary] as const);
    return `${group}:\n${formatRows(rows)}`;
  });
  const flags = formatRows([['--version', 'print the version'], helpRow('--')]);
  const more = "See 'portolan help COMMAND' for the flags of a command.";
  return `Usage: portolan <command> [flags]\n\nA DNS server for Kubernetes clusters.\n\n${listed.join('\n')}\nFlags:\n${flags}\n${more}\n`;
}
