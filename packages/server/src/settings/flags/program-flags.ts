/**
 * Reads a command line in the manner of Go by the table of a program's flags: help, version, values, and words that are no flags.
 */
import { ValueReader } from '../values/value-reader.ts';
import { type Flag, type FlagKinds, toFlagKinds } from './flag.ts';
import { FlagReader, type NameIn } from './flag-reader.ts';
import { type FlagManners, type GivenFlags, readGoFlags } from './go-flags.ts';

export interface ProgramManners extends Pick<FlagManners, 'dashes' | 'remedy'> {
  /** The remedy for an argument that is not a flag. Default: give flags only. */
  readonly wordRemedy?: string;
  /** Whether the arguments after `--` are the caller's, and no problem. Default: no. */
  readonly leavesBehind?: boolean;
  /** Flags that are accepted without being in the table. */
  readonly further?: FlagKinds;
}

/** The kind `version` is that of tables with such a flag. The reader has the problems found so far. */
export type ProgramFlags<Table extends readonly Flag[]> =
  | { readonly kind: 'help' | Extract<NameIn<Table>, 'version'> }
  | { readonly kind: 'flags'; readonly given: GivenFlags; readonly read: FlagReader<Table> };

/** @param words the arguments after the command */
export function readProgramFlags<const Table extends readonly Flag[]>(
  words: readonly string[],
  table: Table,
  { dashes, remedy, wordRemedy = 'Give flags only.', leavesBehind = false, further }: ProgramManners,
): ProgramFlags<Table> {
  const kinds = new Map([...toFlagKinds(table), ...(further ?? [])]);
  const syntax = new ValueReader();
  const given = readGoFlags(words, { kinds, dashes, remedy }, syntax);
  if (given === 'help') return { kind: 'help' };
  // Only a table with this flag takes it.
  if (given.switch('version') === true) return { kind: 'version' as Extract<NameIn<Table>, 'version'> };
  const read = new FlagReader(table, (name) => given.all(name), dashes, syntax.problems);
  for (const word of leavesBehind ? given.words : [...given.words, ...given.behind])
    read.addProblem(word, 'unexpected argument', undefined, wordRemedy);
  return { kind: 'flags', given, read };
}
