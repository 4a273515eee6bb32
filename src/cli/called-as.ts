/**
 * The names that the program is called by: in an image that stands for one of kube-dns, the file of that image's program is a
 * link to our entry.
 */
import { basename } from 'node:path';
import { COMMANDS } from './command-table.ts';

/**
 * @param entry the path that the program was called by, links not resolved
 * @returns `words`, with the command before them if the name says it
 */
export function wordsAsCalled(entry: string, words: readonly string[]): readonly string[] {
  const called = basename(entry);
  const command = COMMANDS.find(({ program }) => program === called);
  return command === undefined ? words : [command.name, ...words];
}
