/**
 * A row of the command table.
 */
import type { Flag } from '@portolan/server/settings/flags/flag.ts';
import type { Serves } from '../process/first-reader.ts';

export interface CommandRow {
  readonly name: string;
  /** The effect of the command: a sentence without a final full stop. */
  readonly summary: string;
  /** The heading in `portolan --help` under which it is listed. */
  readonly group: string;
  /** Command lines that its help shows. */
  readonly examples?: readonly string[];
  /** The program that it replaces: if Portolan is called by this name, it runs the command. */
  readonly program?: string;
  /** The dashes of that program's flags. */
  readonly dashes: '-' | '--';
  /** Whether it also accepts the klog flags. */
  readonly takesKlog?: true;
  /** Undefined: it does not serve DNS. */
  readonly serves?: Serves;
  /** Whether a kubelet probes its HTTP ports. */
  readonly isProbed?: true;
  /** The bundle of `dist/` that contains it, shared by commands with the same name; undefined: the bundle of the entry. */
  readonly bundle?: string;
  /** Loaded only to describe flags, not to run the command. */
  readonly takes: () => Promise<CommandArguments>;
  readonly load: () => Promise<RunCommand>;
}

/** The arguments and flags of a command. */
export interface CommandArguments {
  readonly flags: readonly Flag[];
  /** Flags that it also takes from another command. */
  readonly further?: { readonly flags: readonly Flag[]; readonly of: string };
  readonly subcommands?: readonly { readonly name: string; readonly flags: readonly Flag[] }[];
  /** The possible first words, if they can be listed. */
  readonly words?: readonly string[];
}

/**
 * Runs a command.
 *
 * @param words the arguments after the command
 * @param command its row
 * @param commands all rows
 * @returns the exit code
 */
export type RunCommand = (
  words: readonly string[],
  command: CommandRow,
  commands: readonly CommandRow[],
) => Promise<number>;
