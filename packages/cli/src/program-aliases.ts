/**
 * Program names that select a command: in an image that replaces a kube-dns one, the original program's file is a link to this entry.
 */
import { basename } from 'node:path';
import { COMMANDS } from './command-table.ts';

/**
 * @param entry the path of the call, with links unresolved
 * @returns `words`, preceded by the command if the name selects one
 */
export function resolveAlias(entry: string, words: readonly string[]): readonly string[] {
  const called = basename(entry);
  const command = COMMANDS.find(({ program }) => program === called);
  return command === undefined ? words : [command.name, ...words];
}
