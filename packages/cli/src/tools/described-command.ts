/**
 * Commands with their arguments and flags, for completions, the man page and the reference page.
 */
import type { Flag } from '@portolan/server/settings/flags/flag.ts';
import { SHOWN_KLOG_FLAGS } from '@portolan/server/settings/flags/klog-flags.ts';
import type { CommandArguments, CommandRow } from '../grammar/command.ts';

export interface DescribedCommand extends CommandRow, CommandArguments {}

export async function describeCommands(
  commands: readonly CommandRow[],
): Promise<readonly DescribedCommand[]> {
  return await Promise.all(commands.map(async (row) => ({ ...row, ...(await row.takes()) })));
}

/** The flags of the command and its subcommands, each once, without the klog flags. */
export function listOwnFlags({ flags, subcommands = [] }: DescribedCommand): readonly Flag[] {
  return [...new Set([...flags, ...subcommands.flatMap((subcommand) => subcommand.flags)])];
}

/** The flags that its help shows. */
export function listShownFlags(command: DescribedCommand): readonly Flag[] {
  return [...listOwnFlags(command), ...(command.takesKlog === true ? SHOWN_KLOG_FLAGS : [])];
}

/** The possible first words after the command. */
export function listFirstWords({ words = [], subcommands = [] }: DescribedCommand): readonly string[] {
  return [...words, ...subcommands.map(({ name }) => name)];
}
