/**
 * A command of the program, as a row of the table of commands.
 */
import type { Flag } from '../config/flags/flag.ts';

export interface CommandRow {
  readonly name: string;
  /** What it does: a sentence without a final full stop. */
  readonly summary: string;
  /** The program that it takes the place of: called by this name, ours runs the command. */
  readonly program?: string;
  /** How that program writes its flags. */
  readonly dashes: '-' | '--';
  /** Whether it takes the flags of klog as well. */
  readonly takesKlog?: true;
  /** Whether it serves DNS in this process, whatever its arguments, or where they keep it in the foreground. */
  readonly serves?: 'always' | 'in the foreground';
  /** The bundle of `dist/` that it is built into, with the others of that name; without one it is in that of the entry. */
  readonly bundle?: string;
  /** Loaded only where flags are described: they are no part of a start. */
  readonly takes: () => Promise<CommandArguments>;
  readonly load: () => Promise<RunCommand>;
}

/** The words and flags that a command takes. */
export interface CommandArguments {
  readonly flags: readonly Flag[];
  /** Flags of another command that it takes too. */
  readonly further?: { readonly flags: readonly Flag[]; readonly of: string };
  readonly subcommands?: readonly { readonly name: string; readonly flags: readonly Flag[] }[];
  /** Words that may come first, where they can be listed. */
  readonly words?: readonly string[];
}

/**
 * Runs a command.
 *
 * @param words those behind its name
 * @param command its own row
 * @param commands all of them
 * @returns the exit code
 */
export type RunCommand = (
  words: readonly string[],
  command: CommandRow,
  commands: readonly CommandRow[],
) => Promise<number>;
