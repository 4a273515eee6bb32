/**
 * Commands with the words and flags that they take, for what describes them together: completions, the man page, the reference page.
 */
import type { Flag } from '../config/flags/flag.ts';
import { SHOWN_KLOG_FLAGS } from '../config/flags/klog-flags.ts';
import type { CommandArguments, CommandRow } from './command.ts';

export interface DescribedCommand extends CommandRow, CommandArguments {}

export async function describeCommands(
  commands: readonly CommandRow[],
): Promise<readonly DescribedCommand[]> {
  return await Promise.all(commands.map(async (row) => ({ ...row, ...(await row.takes()) })));
}

/** The flags of its own and of its subcommands, without those of klog. */
export function ownFlagsOf({ flags, subcommands = [] }: DescribedCommand): readonly Flag[] {
  return [...flags, ...subcommands.flatMap((subcommand) => subcommand.flags)];
}

/** All flags that its help shows. */
export function shownFlagsOf(command: DescribedCommand): readonly Flag[] {
  return [...ownFlagsOf(command), ...(command.takesKlog === true ? SHOWN_KLOG_FLAGS : [])];
}

/** The words that may come first behind it. */
export function wordsOf({ words = [], subcommands = [] }: DescribedCommand): readonly string[] {
  return [...words, ...subcommands.map(({ name }) => name)];
}
