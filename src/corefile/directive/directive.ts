/**
 * What a directive is: how its words become the options of a handler.
 */
import { isAbsolute, join } from 'node:path';
import { ROOT } from '../../wire/name.ts';
import type { NameKey } from '../../wire/types.ts';
import { parseZones } from '../keys/zone-name.ts';
import type { CorefileFiles } from '../syntax/corefile-files.ts';
import type { DirectiveCursor } from './directive-cursor.ts';

export interface Directive<Options> {
  /** How it is written, for people: one line for each form. */
  readonly syntax: readonly string[];
  /** Reads all uses in one block. Faults are noted by the cursor; the result counts only if there are none. */
  read(cursor: DirectiveCursor, context: DirectiveContext): Options;
}

/** What a directive may need to know of its block and of the machine. */
export interface DirectiveContext {
  /** The zones of the block, in the order of its keys; at least one. */
  readonly zones: readonly NameKey[];
  readonly files: CorefileFiles;
  /** The path that `root` names in this block. */
  readonly root: string | undefined;
  /** Addresses by the names of network interfaces, with a zone where they need one. */
  readonly interfaces: ReadonlyMap<string, readonly string[]>;
}

/** A path of a file behind that of `root`, as the plugins that know `root` take it. */
export function resolvePath(path: string, { root }: DirectiveContext): string {
  return root === undefined || isAbsolute(path) ? path : join(root, path);
}

/** The zones that arguments name, or those of the block. */
export function zonesOrBlock(words: readonly string[], { zones }: DirectiveContext): readonly NameKey[] {
  return words.length === 0 ? zones : parseZones(words);
}

/** The zones of a `fallthrough`: all of them if it names none. */
export function fallthroughZones(words: readonly string[]): readonly NameKey[] {
  return words.length === 0 ? [ROOT] : parseZones(words);
}
