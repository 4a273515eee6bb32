/**
 * The command line of our own commands: flags by their table, operands, help, and all problems at once. Flags have the grammar of Go
 * programs, as in commands that replace these.
 */
import { type Flag, type FlagsOf, toFlagKey, toFlagKinds } from '@portolan/server/settings/flags/flag.ts';
import { formatFlagRow, formatRows } from '@portolan/server/settings/flags/flag-text.ts';
import { type GivenFlags, readGoFlags } from '@portolan/server/settings/flags/go-flags.ts';
import { helpRow } from '@portolan/server/settings/flags/klog-flags.ts';
import type { Problem } from '@portolan/server/settings/values/problem.ts';
import { ValueReader } from '@portolan/server/settings/values/value-reader.ts';
import { printProblems } from '../process/print-problems.ts';
import { ExitError } from './exit.ts';
import { formatExamples } from './help-text.ts';

/** What a command takes. */
export interface CommandForm<Table extends readonly Flag[] = readonly Flag[]> {
  /** The words after `portolan`. */
  readonly name: string;
  /** The effect: a sentence without a final full stop. */
  readonly summary: string;
  /** Default: none. */
  readonly flags?: Table;
  /** In their order. Default: none. */
  readonly operands?: readonly OperandSyntax[];
  /** Command lines that its help shows. Default: none. */
  readonly examples?: readonly string[];
  /** Whether flags after the first operand belong to that. */
  readonly passesFlagsOn?: true;
}

export interface OperandSyntax {
  /** `<file>`; `[type]`: it may be left out; `<files...>`, `[types...]`: several, and the last operand. */
  readonly form: string;
  readonly help: string;
}

export type CommandLine<Table extends readonly Flag[]> =
  | { readonly kind: 'help' }
  | {
      readonly kind: 'read';
      readonly flags: FlagsOf<Table>;
      readonly operands: readonly string[];
      readonly problems: readonly Problem[];
    };

/** Reads the words after a command. */
export function readCommandLine<const Table extends readonly Flag[]>(
  words: readonly string[],
  form: CommandForm<Table>,
): CommandLine<Table> {
  const { name, flags = [], operands = [], passesFlagsOn = false } = form;
  const read = new ValueReader();
  const remedy = `See 'portolan ${name} --help' for all flags.`;
  const end = passesFlagsOn ? words.findIndex((word) => !word.startsWith('-')) : -1;
  const own = end < 0 ? words : words.slice(0, end);
  const given = readGoFlags(own, { kinds: toFlagKinds(flags), dashes: '--', remedy, takesKlog: false }, read);
  if (given === 'help') return { kind: 'help' };
  const found = [...given.words, ...given.behind, ...(end < 0 ? [] : words.slice(end))];
  // What is missing may be the value of a flag that is wrong.
  const problems = read.problems.length > 0 ? read.problems : findMissing(name, operands, found);
  problems.push(...findExcess(name, operands, found));
  return { kind: 'read', flags: toFlags(given, flags) as FlagsOf<Table>, operands: found, problems };
}

/**
 * Runs a command with what its words say, unless these are wrong or ask for help.
 *
 * @returns the exit code
 */
export async function runCommandLine<const Table extends readonly Flag[]>(
  words: readonly string[],
  form: CommandForm<Table>,
  run: (flags: FlagsOf<Table>, operands: readonly string[]) => unknown,
): Promise<number> {
  const line = readCommandLine(words, form);
  if (line.kind === 'help') {
    process.stdout.write(formatHelp(form));
    return 0;
  }
  printProblems(form.name, line.problems);
  if (line.problems.length > 0) return 2;
  try {
    await run(line.flags, line.operands);
    return 0;
  } catch (error) {
    if (error instanceof ExitError) return error.code;
    throw error;
  }
}

export function formatHelp({ name, summary, flags = [], operands = [], examples }: CommandForm): string {
  const usage = [name, '[flags]', ...operands.map(({ form }) => form)].join(' ');
  const arguments_ = operands.map(({ form, help }) => [form, help] as const);
  const listed = arguments_.length === 0 ? '' : `${formatRows(arguments_)}\n`;
  return `Usage: portolan ${usage}\n\n${summary}\n\n${listed}${formatGroups(flags)}${formatExamples(examples)}`;
}

/** Flags under the headings of their groups; those without one come first. */
function formatGroups(flags: readonly Flag[]): string {
  const groups = new Map<string | undefined, Flag[]>([[undefined, []]]);
  for (const flag of flags) groups.set(flag.group, [...(groups.get(flag.group) ?? []), flag]);
  return [...groups]
    .map(([group, members]) => {
      const rows = members.map((flag) => formatFlagRow(flag));
      return group === undefined ? formatRows([...rows, helpRow('--')]) : `\n${group}:\n${formatRows(rows)}`;
    })
    .join('');
}

function findMissing(name: string, operands: readonly OperandSyntax[], found: readonly string[]): Problem[] {
  return operands
    .slice(found.length)
    .filter(({ form }) => form.startsWith('<'))
    .map(({ form }) => ({ where: form, fault: 'missing', value: undefined, remedy: seeHelp(name) }));
}

function findExcess(name: string, operands: readonly OperandSyntax[], found: readonly string[]): Problem[] {
  if (operands.at(-1)?.form.includes('...') === true) return [];
  const remedy = operands.length === 0 ? 'Give flags only.' : seeHelp(name);
  return found
    .slice(operands.length)
    .map((where) => ({ where, fault: 'unexpected argument', value: undefined, remedy }));
}

function seeHelp(name: string): string {
  return `See 'portolan ${name} --help'.`;
}

/** By their names in camel case. */
function toFlags(given: GivenFlags, table: readonly Flag[]): object {
  return Object.fromEntries(
    table
      .filter(({ name }) => given.has(name))
      .map((flag) => [toFlagKey(flag.name), toFlagValue(given, flag)]),
  );
}

function toFlagValue(given: GivenFlags, flag: Flag): boolean | string | readonly string[] | undefined {
  if (flag.value === 'none') return given.switch(flag.name);
  return flag.repeats === true ? given.all(flag.name) : given.last(flag.name);
}
