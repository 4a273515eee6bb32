/**
 * The definition of a directive: how to read its words to the options of a handler.
 */
import { ROOT } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import type { Block } from '@portolan/plugin';
import { parseZones } from '../keys/zone-name.ts';
import type { CorefileFiles } from '../syntax/corefile-files.ts';
import type { DirectiveCursor } from './directive-cursor.ts';
import { parseInteger } from './go-values.ts';

export interface Directive<Options> {
  /** The syntax for users: one line per form. */
  readonly syntax: readonly string[];
  /** Reads all uses in one block. The cursor records faults; the result counts only if there are none. */
  read(cursor: DirectiveCursor, context: DirectiveContext): Options;
}

/** Options while they are read. */
export type Draft<Options> = { -readonly [Name in keyof Options]: Options[Name] };

/** Facts about the block and the machine that a directive may need. */
export interface DirectiveContext extends Block {
  readonly files: CorefileFiles;
  /** The path that `root` names in this block. */
  readonly root: string | undefined;
  /** Addresses by interface name; link-local ones carry their zone. */
  readonly interfaces: ReadonlyMap<string, readonly string[]>;
}

/** The zones that arguments name, or those of the block. */
export function zonesOrBlock(words: readonly string[], { zones }: DirectiveContext): readonly NameKey[] {
  return words.length === 0 ? zones : parseZones(words);
}

/** The zones of a `fallthrough`; without arguments, all zones. */
export function fallthroughZones(words: readonly string[]): readonly NameKey[] {
  return words.length === 0 ? [ROOT] : parseZones(words);
}

/** The argument of a `ttl`. @param max in seconds */
export function readTtl(cursor: DirectiveCursor, max: number): number {
  const [text] = cursor.remainingArguments();
  const remedy = `Give seconds from 0 to ${max}.`;
  if (text === undefined) throw cursor.argumentError(remedy);
  const ttl = cursor.bare(parseInteger(text), remedy);
  if (ttl < 0 || ttl > max) throw cursor.error(`ttl must be in range [0, ${max}]: ${ttl}`, remedy);
  return ttl;
}
