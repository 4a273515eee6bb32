/**
 * Selects the configuration files in a folder: `--conf-dir=PATH[,*END...][,END...]`.
 */
import { textOfOctets } from './octets.ts';
import { cutAll } from './pieces.ts';
import type { FolderEntry } from './sources.ts';

export interface FolderChoice {
  readonly path: string;
  /** If not empty, only names with one of these suffixes. */
  readonly wanted: readonly string[];
  readonly unwanted: readonly string[];
}

/** @param value octets */
export function readFolderChoice(value: string): FolderChoice {
  const [path = '', ...ends] = cutAll(value).map(textOfOctets);
  return {
    path,
    wanted: ends.filter((end) => end.startsWith('*') && end !== '*').map((end) => end.slice(1)),
    unwanted: ends.filter((end) => end !== '' && !end.startsWith('*')),
  };
}

/** Sorted by name, without hidden files and backups of editors. */
export function chooseConfigFiles(
  { wanted, unwanted }: FolderChoice,
  entries: readonly FolderEntry[],
): readonly FolderEntry[] {
  // The suffix must be shorter than the name.
  const endsIn = (name: string, ends: readonly string[]) =>
    ends.some((end) => name.endsWith(end) && name.length > end.length);
  return entries
    .filter(({ name }) => isForReading(name))
    .filter(({ name }) => wanted.length === 0 || endsIn(name, wanted))
    .filter(({ name }) => !endsIn(name, unwanted))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** dnsmasq's rule for folders of configuration files and of hosts files. */
export function isForReading(name: string): boolean {
  const isEditorFile = name.endsWith('~') || (name.startsWith('#') && name.endsWith('#'));
  return name !== '' && !name.startsWith('.') && !isEditorFile;
}
