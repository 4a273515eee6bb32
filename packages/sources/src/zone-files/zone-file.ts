/**
 * Master files (RFC 1035 section 5): records, `$ORIGIN`, `$INCLUDE`, `$TTL` (RFC 2308 section 4) and `$GENERATE`.
 *
 * It reads all types of `record-fields.ts`, and all others in the form of RFC 3597. It collects all faults, each with its file
 * and line.
 */
import { dirname, isAbsolute, join } from 'node:path';
import { parseClass, parseType } from '@portolan/dns/mnemonics.ts';
import { ROOT } from '@portolan/dns/name.ts';
import type { DataOf } from '@portolan/dns/record-codec.ts';
import { type AbsoluteName, CLASS, type ResourceRecord } from '@portolan/dns/types.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import { readItem } from '@portolan/kernel/base/item-guard.ts';
import { type DataField, readEntries, type ZoneEntry, ZoneFileFault, type ZoneWord } from './entries.ts';
import { fillInNumber, listNumbers, readRange } from './generate.ts';
import { readRecordData } from './record-fields.ts';
import { findInconsistency } from './service-parameters.ts';
import { MAX_TTL, MAX_UINT32, parseTtl, readName } from './word-values.ts';

export interface ZoneFileProblem {
  readonly file: string;
  readonly line: number;
  /** Characters in the line up to the end of the word. */
  readonly column: number;
  readonly fault: string;
  /** The wrong word; undefined if a word is missing. */
  readonly word: string | undefined;
  /** Its field in the data of a record; undefined for other faults. */
  readonly field: DataField | undefined;
}

/** `db.example:12: not an IPv4 address: "x"`. */
export function describeZoneFileProblem({ file, line, fault, word }: ZoneFileProblem): string {
  return `${file}:${line}: ${fault}${word === undefined ? '' : `: ${JSON.stringify(word)}`}`;
}

export interface ZoneFileSettings {
  /** The path of the file, for messages; included files are relative to its folder. */
  readonly file: string;
  /** Names without a final dot are relative to it. */
  readonly origin: AbsoluteName;
  /** The text of an included file. @throws Error if it cannot be read */
  readonly readInclude: (path: string) => string;
  /** TTL in seconds of `$GENERATE` records without one. Default: the TTL of other records. */
  readonly generatedTtl?: number | undefined;
}

export interface ZoneFileReading {
  /** The records of valid entries, in the order of the file. */
  readonly records: readonly ResourceRecord[];
  /** Empty if the file is valid. */
  readonly problems: readonly ZoneFileProblem[];
  /** Paths of all files that it includes, directly or indirectly. */
  readonly included: readonly string[];
  /** What the owner of a valid file should know. */
  readonly warnings: readonly ZoneFileWarning[];
}

export interface ZoneFileWarning {
  /** With file and line. */
  readonly text: string;
  /** A sentence. */
  readonly remedy: string;
}

export function readZoneFile(text: string, settings: ZoneFileSettings): ZoneFileReading {
  const reader = new ZoneFileReader(settings);
  reader.read(text, settings.file, settings.origin, 0);
  const { records, problems, included, warnings } = reader;
  return { records, problems, included: [...included], warnings };
}

const DEFAULT_TTL = 3600;

/**
 * Parses one record in one line: the default TTL is 3600 and the default class IN.
 *
 * @param origin of names that do not end with a dot
 * @returns the record, or its problem
 */
export function parseRecord(text: string, origin: AbsoluteName = ROOT): ResourceRecord | ZoneFileProblem {
  const reader = new ZoneFileReader({ file: 'record', origin, readInclude: () => '' }, DEFAULT_TTL);
  reader.read(text, 'record', origin, 0);
  const [record] = reader.records;
  const [problem = NO_RECORD] = reader.problems;
  return reader.records.length === 1 && reader.problems.length === 0 && record !== undefined
    ? record
    : problem;
}

const NO_RECORD: ZoneFileProblem = {
  file: 'record',
  line: 1,
  column: 0,
  fault: 'not one record',
  word: undefined,
  field: undefined,
};

/** Maximum depth of included files. */
const MAX_DEPTH = 7;
/** With more problems it is probably not a master file. */
const MAX_PROBLEMS = 100;

class ZoneFileReader {
  readonly records: ResourceRecord[] = [];
  readonly problems: ZoneFileProblem[] = [];
  readonly included = new Set<string>();
  readonly warnings: ZoneFileWarning[] = [];
  readonly #settings: ZoneFileSettings;
  #origin: AbsoluteName = ROOT;
  #owner: AbsoluteName | undefined;
  #class: number = CLASS.IN;
  #file = '';
  /** The TTL of `$TTL`, else of the last record with a TTL. */
  #ttl: number | undefined;
  #isTtlDirected = false;
  #isUntimed = false;

  constructor(settings: ZoneFileSettings, ttl?: number) {
    this.#settings = settings;
    this.#ttl = ttl;
  }

  read(text: string, file: string, origin: AbsoluteName, depth: number): void {
    this.#origin = origin;
    this.#file = file;
    let entryLine = 1;
    this.#guard(file, entryLine, () => {
      for (const entry of readEntries(text)) {
        entryLine = entry.words[0]?.line ?? entryLine;
        this.#guard(file, entryLine, () => this.#readEntry(entry, file, depth));
        if (this.problems.length >= MAX_PROBLEMS) return;
      }
    });
  }

  /** @param line of the start of the entry, for faults without a place */
  #guard(file: string, line: number, read: () => void): void {
    const reading = readItem(read);
    if (reading.kind === 'read') return;
    const { error, problem: fault } = reading;
    const place = { line, column: 0, word: undefined, field: undefined };
    const { column, word, field, line: at } = error instanceof ZoneFileFault ? error : place;
    this.problems.push({ file, line: at, column, fault, word, field });
  }

  #readEntry({ words, continuesOwner }: ZoneEntry, file: string, depth: number): void {
    const [first, ...rest] = words;
    if (first === undefined) return;
    if (!continuesOwner && first.text.startsWith('$') && !first.isQuoted)
      this.#direct(first, rest, file, depth);
    else if (continuesOwner) this.#readRecord(this.#requireOwner(first), first, words);
    else this.#readRecord(readName(first, this.#origin), first, rest);
  }

  #requireOwner(word: ZoneWord): AbsoluteName {
    if (this.#owner === undefined)
      throw new ZoneFileFault('a record without a name, and none before it', word);
    return this.#owner;
  }

  #direct(directive: ZoneWord, words: readonly ZoneWord[], file: string, depth: number): void {
    switch (directive.text.toUpperCase()) {
      case '$ORIGIN':
        this.#origin = readName(takeOnly(directive, words), this.#origin);
        return;
      case '$TTL':
        this.#ttl = readTtl(takeOnly(directive, words));
        this.#isTtlDirected = true;
        return;
      case '$INCLUDE':
        this.#include(directive, words, file, depth);
        return;
      case '$GENERATE':
        this.#generate(directive, words);
        return;
      default:
        throw new ZoneFileFault('not one of $ORIGIN, $TTL, $INCLUDE and $GENERATE', directive);
    }
  }

  /** After the included file, restores the origin, the last owner (RFC 1035 section 5.1) and, as CoreDNS and Knot do, the TTL. */
  #include(
    directive: ZoneWord,
    [path, origin, ...others]: readonly ZoneWord[],
    file: string,
    depth: number,
  ): void {
    if (path === undefined || others.length > 0)
      throw new ZoneFileFault('a path, and perhaps an origin, are expected', directive);
    if (depth >= MAX_DEPTH) throw new ZoneFileFault(`more than ${MAX_DEPTH} files inside each other`, path);
    const target = isAbsolute(path.text) ? path.text : join(dirname(file), path.text);
    const before = { origin: this.#origin, owner: this.#owner, ttl: this.#ttl, of: this.#isTtlDirected };
    const inner = origin === undefined ? this.#origin : readName(origin, this.#origin);
    let text: string;
    try {
      text = this.#settings.readInclude(target);
    } catch (error) {
      const reason = describeError(error);
      throw new ZoneFileFault(`a file that cannot be read (${reason})`, path);
    }
    this.included.add(target);
    this.read(text, target, inner, depth + 1);
    this.#origin = before.origin;
    this.#file = file;
    this.#owner = before.owner;
    this.#ttl = before.ttl;
    this.#isTtlDirected = before.of;
  }

  #generate(directive: ZoneWord, [range, left, ...rest]: readonly ZoneWord[]): void {
    if (range === undefined || left === undefined || rest.length === 0)
      throw new ZoneFileFault('a range, a name, a type and data are expected', directive);
    const ttl = this.#ttl;
    this.#ttl = this.#settings.generatedTtl ?? ttl;
    for (const number of listNumbers(readRange(range))) {
      const name = readName(fillInNumber(left, number), this.#origin);
      this.#readRecord(
        name,
        left,
        rest.map((word) => fillInNumber(word, number)),
      );
    }
    if (this.#settings.generatedTtl !== undefined) this.#ttl = ttl;
  }

  #readRecord(owner: AbsoluteName, place: ZoneWord, words: readonly ZoneWord[]): void {
    this.#owner = owner;
    let rest = words;
    let ttl: number | undefined;
    let recordClass: number | undefined;
    for (let [word] = rest; word !== undefined; [word] = rest) {
      if (ttl === undefined && parseTtl(word.text) !== undefined) ttl = readTtl(word);
      else if (recordClass === undefined && parseClass(word.text) !== undefined)
        recordClass = parseClass(word.text);
      else break;
      rest = rest.slice(1);
    }
    const [type, ...data] = rest;
    if (type === undefined)
      throw new ZoneFileFault('a record without a type', { line: place.line, column: place.column });
    if (parseType(type.text) === undefined || type.isQuoted) throw new ZoneFileFault('not a type', type);
    this.#class = recordClass ?? this.#class;
    const read = readRecordData(type, this.#class, data, this.#origin);
    const known = ttl ?? this.#ttl;
    if (known === undefined) this.#warnOfTtl(place);
    else if (!this.#isTtlDirected) this.#ttl = known;
    if (read.kind === 'SVCB' || read.kind === 'HTTPS') this.#warnOfParameters(read, place);
    this.records.push({ name: owner, class: this.#class, ttl: known ?? 0, data: read });
  }

  /** Of the first such record. */
  #warnOfTtl(place: ZoneWord): void {
    if (this.#isUntimed) return;
    this.#isUntimed = true;
    const what = 'the record and $TTL give no TTL, so it is 0: nobody may cache the record';
    this.#warn(place, what, 'Begin the file with $TTL.');
  }

  #warnOfParameters({ kind, parameters }: DataOf<'SVCB'>, place: ZoneWord): void {
    const fault = findInconsistency(parameters);
    if (fault === undefined) return;
    const what = `clients ignore the ${kind} records of this name: ${fault}`;
    this.#warn(place, what, 'Correct the parameters.');
  }

  #warn({ line }: ZoneWord, what: string, remedy: string): void {
    if (this.warnings.length < MAX_PROBLEMS)
      this.warnings.push({ text: `${this.#file}:${line}: ${what}`, remedy });
  }
}

function takeOnly(directive: ZoneWord, [word, other]: readonly ZoneWord[]): ZoneWord {
  if (word === undefined) throw new ZoneFileFault('a directive without its value', directive);
  if (other !== undefined) throw new ZoneFileFault('more than one value', other);
  return word;
}

function readTtl(word: ZoneWord): number {
  const ttl = parseTtl(word.text);
  // RFC 2181 section 8: with the most significant bit set, it is 0.
  if (ttl !== undefined && ttl <= MAX_UINT32) return ttl > MAX_TTL ? 0 : ttl;
  throw new ZoneFileFault(`not a TTL from 0 to ${MAX_TTL}`, word);
}
