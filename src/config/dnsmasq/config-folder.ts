/**
 * Which files of a folder are configuration: `--conf-dir=PATH[,*END...][,END...]`.
 */
import { textOfOctets } from './octets.ts';
import { cutAll } from './pieces.ts';
import type { FolderEntry } from './sources.ts';

export interface FolderChoice {
  readonly path: string;
  /** Only names with one of these ends, if there are any. */
  readonly wanted: readonly string[];
  readonly unwanted: readonly string[];
}

/** @param value Octets. */
export function readFolderChoice(value: string): FolderChoice {
  const [path = '', ...ends] = cutAll(value).map(textOfOctets);
  return {
    path,
    wanted: ends.filter((end) => end.startsWith('*') && end !== '*').map((end) => end.slice(1)),
    unwanted: ends.filter((end) => end !== '' && !end.startsWith('*')),
  };
}

/** In the order of their names. Hidden files and those that editors leave behind are never among them. */
export function chooseConfigFiles(
  { wanted, unwanted }: FolderChoice,
  entries: readonly FolderEntry[],
): readonly FolderEntry[] {
  // A name that is nothing but the end does not have that end.
  const endsIn = (name: string, ends: readonly string[]) =>
    ends.some((end) => name.endsWith(end) && name.length > end.length);
  return entries
    .filter(({ name }) => isForReading(name))
    .filter(({ name }) => wanted.length === 0 || endsIn(name, wanted))
    .filter(({ name }) => !endsIn(name, unwanted))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** dnsmasq's rule for folders of configuration and of hosts files alike. */
export function isForReading(name: string): boolean {
  const isEditorFile = name.endsWith('~') || (name.startsWith('#') && name.endsWith('#'));
  return name !== '' && !name.startsWith('.') && !isEditorFile;
}
