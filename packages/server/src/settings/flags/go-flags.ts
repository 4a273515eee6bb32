/**
 * Parses a command line as Go programs do: `-name value`, `-name=value`, one dash or two. Switches take a value only after `=`.
 * `_` and `-` in names are equivalent, and flags may be repeated.
 */
import { findNearest } from '@portolan/kernel/base/nearest.ts';
import { makeUnknownFlagProblem } from '../values/problem.ts';
import type { ValueReader } from '../values/value-reader.ts';
import type { FlagKinds } from './flag.ts';
import { KLOG_FLAGS } from './klog-flags.ts';

export class GivenFlags {
  /** Arguments that are not flags. */
  readonly words: readonly string[];
  /** The arguments after `--`. */
  readonly behind: readonly string[];
  readonly #values: ReadonlyMap<string, readonly string[]>;

  constructor(
    values: ReadonlyMap<string, readonly string[]>,
    words: readonly string[],
    behind: readonly string[],
  ) {
    this.#values = values;
    this.words = words;
    this.behind = behind;
  }

  has(name: string): boolean {
    return this.#values.has(canonical(name));
  }

  /** The last value given, which wins. */
  last(name: string): string | undefined {
    return this.#values.get(canonical(name))?.at(-1);
  }

  all(name: string): readonly string[] {
    return this.#values.get(canonical(name)) ?? [];
  }

  /** @returns undefined if the switch is not given */
  switch(name: string): boolean | undefined {
    const text = this.last(name);
    return text === undefined ? undefined : text === 'true';
  }
}

/** How a program parses its command line. */
export interface FlagManners {
  readonly kinds: FlagKinds;
  /** The dashes of flags in messages: `-` or `--`. */
  readonly dashes: string;
  /** The remedy for an unknown flag that resembles none. */
  readonly remedy: string;
  /** Whether the flags of the log library of Kubernetes are taken too. Default: yes. */
  readonly takesKlog?: boolean;
}

/**
 * Reads flags. Reports every fault and continues.
 *
 * @param words the arguments after the command
 */
export function readGoFlags(
  words: readonly string[],
  manners: FlagManners,
  read: ValueReader,
): GivenFlags | 'help' {
  const end = words.indexOf('--');
  const own = end < 0 ? words : words.slice(0, end);
  const reading = new FlagReading(manners, read);
  for (let at = 0; at < own.length; ) {
    const taken = reading.take(own[at] ?? '', own[at + 1]);
    if (taken === 'help') return 'help';
    at += taken;
  }
  return new GivenFlags(reading.values, reading.words, end < 0 ? [] : words.slice(end + 1));
}

class FlagReading {
  readonly values = new Map<string, string[]>();
  readonly words: string[] = [];
  readonly #manners: FlagManners;
  readonly #kinds: FlagKinds;
  readonly #further: FlagKinds;
  readonly #read: ValueReader;

  constructor(manners: FlagManners, read: ValueReader) {
    this.#manners = manners;
    this.#read = read;
    this.#further = manners.takesKlog === false ? new Map() : KLOG_FLAGS;
    const all = [...this.#further, ...manners.kinds];
    this.#kinds = new Map(all.map(([name, kind]) => [canonical(name), kind]));
  }

  /** @returns the number of words taken */
  take(word: string, following: string | undefined): 1 | 2 | 'help' {
    const [, name, inline] = FLAG.exec(word) ?? [];
    if (name === undefined) {
      this.words.push(word);
      return 1;
    }
    if (name === 'help' || name === 'h') return 'help';
    const verbosity = this.#further.has('v') ? SHORT_VERBOSITY.exec(word)?.[1] : undefined;
    const kind = this.#kinds.get(canonical(name));
    if (verbosity !== undefined) this.#add('v', verbosity);
    else if (kind === undefined) return this.#complainOfUnknown(name, inline, following);
    else if (kind === 'switch') this.#addSwitch(name, inline ?? 'true');
    else if (inline !== undefined) this.#add(name, inline);
    else if (kind !== 'value') this.#add(name, kind.impliedValue);
    else return this.#addFollowing(name, following);
    return 1;
  }

  #addFollowing(name: string, following: string | undefined): 1 | 2 {
    const flag = `${this.#manners.dashes}${name}`;
    if (following === undefined)
      this.#read.addProblem(flag, 'its value is missing', undefined, `Give one, as in ${flag}=VALUE.`);
    else this.#add(name, following);
    return following === undefined ? 1 : 2;
  }

  #addSwitch(name: string, text: string): void {
    const isOn = parseGoBoolean(text);
    if (isOn === undefined)
      this.#read.addProblem(
        `${this.#manners.dashes}${name}`,
        'neither true nor false',
        text,
        'Give one of the two.',
      );
    this.#add(name, String(isOn ?? false));
  }

  #add(name: string, value: string): void {
    const key = canonical(name);
    const others = this.values.get(key);
    if (others === undefined) this.values.set(key, [value]);
    else others.push(value);
  }

  /** A word after an unknown flag is most likely its value. */
  #complainOfUnknown(name: string, inline: string | undefined, following: string | undefined): 1 | 2 {
    const { kinds, dashes, remedy } = this.#manners;
    const nearest = findNearest(name, [...kinds.keys(), ...this.#further.keys()]);
    const hint = nearest === undefined ? remedy : `Did you mean ${dashes}${nearest}?`;
    this.#read.problems.push(makeUnknownFlagProblem(`${dashes}${name}`, hint));
    return inline === undefined && following !== undefined && !following.startsWith('-') ? 2 : 1;
  }
}

const FLAG = /^--?([^=-][^=]*)(?:=(.*))?$/s;
/** `-v2`, the POSIX form. */
const SHORT_VERBOSITY = /^-v(\d+)$/;
const TRUTHS: readonly string[] = ['1', 't', 'T', 'true', 'TRUE', 'True'];
const FALSEHOODS: readonly string[] = ['0', 'f', 'F', 'false', 'FALSE', 'False'];

const canonical = (name: string): string => name.replaceAll('_', '-');

/** Parses like Go's `strconv.ParseBool`. @returns undefined for other texts */
export function parseGoBoolean(text: string): boolean | undefined {
  if (TRUTHS.includes(text)) return true;
  return FALSEHOODS.includes(text) ? false : undefined;
}
