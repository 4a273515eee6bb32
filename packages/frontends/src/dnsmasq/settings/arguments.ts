/**
 * Splits a command line as GNU getopt does: `--long=value`, `--long value`, unique prefixes of long forms, `-s value`, `-svalue`,
 * combined flags (`-kd`), options after other arguments, and `--` to end the options.
 */
import { octetsOfArgument } from './octets.ts';
import type { Option } from './option.ts';
import { findByPrefix, findOption, findShortOption, nearestName } from './option-table.ts';

export type Argument =
  | {
      readonly kind: 'option';
      readonly option: Option;
      /** As octets; undefined if not given. */
      readonly value: string | undefined;
    }
  | { readonly kind: 'wrong'; readonly written: string; readonly fault: string; readonly remedy: string };

const SEE_HELP = 'See --help for all options.';

/** @param words the arguments after the program's name */
export function readArguments(words: readonly string[]): readonly Argument[] {
  const found: Argument[] = [];
  const loose: string[] = [];
  const rest = [...words];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === '--') loose.push(...rest.splice(0));
    else if (word.startsWith('--')) found.push(readLong(word.slice(2), rest));
    else if (word.startsWith('-') && word !== '-') found.push(...readShort(word.slice(1), rest));
    else loose.push(word);
  }
  return [...found, ...loose.filter((word) => word.trim() !== '').map(looseWord)];
}

/** Arguments that are not options are read last, as in dnsmasq. */
function looseWord(written: string): Argument {
  return { kind: 'wrong', written, fault: 'not an option', remedy: `Options begin with a dash. ${SEE_HELP}` };
}

function readLong(text: string, rest: string[]): Argument {
  const equals = text.indexOf('=');
  const name = equals < 0 ? text : text.slice(0, equals);
  const exact = findOption(name);
  const candidates = exact === undefined ? findByPrefix(name) : [exact];
  const [option] = candidates;
  if (option === undefined) return unknown(`--${name}`, nearestName(name));
  if (candidates.length > 1) {
    const names = candidates.map((candidate) => `--${candidate.name}`).join(', ');
    return {
      kind: 'wrong',
      written: `--${name}`,
      fault: 'the beginning of several options',
      remedy: `Give one of ${names}.`,
    };
  }
  if (equals >= 0 && option.takes === 'nothing')
    return {
      kind: 'wrong',
      written: `--${name}`,
      fault: 'a value given to an option without one',
      remedy: 'Leave it out.',
    };
  if (equals >= 0) return given(option, text.slice(equals + 1));
  return option.takes === 'value'
    ? withNext(option, `--${name}`, rest)
    : { kind: 'option', option, value: undefined };
}

/** Combined short flags; the first one that takes a value takes the rest of the word, or else the next word. */
function readShort(letters: string, rest: string[]): readonly Argument[] {
  const found: Argument[] = [];
  for (const [index, letter] of [...letters].entries()) {
    const option = findShortOption(letter);
    if (option === undefined) {
      found.push(unknown(`-${letter}`, undefined));
      continue;
    }
    if (option.takes === 'nothing' || option.takes === 'long') {
      found.push({ kind: 'option', option, value: undefined });
      continue;
    }
    const value = [...letters].slice(index + 1).join('');
    return [...found, value === '' ? withNext(option, `-${letter}`, rest) : given(option, value)];
  }
  return found;
}

/** The next word is the value, whatever it looks like. */
function withNext(option: Option, written: string, rest: string[]): Argument {
  const value = rest.shift();
  if (value !== undefined) return given(option, value);
  const remedy = `Give it as in --${option.name}${option.shows ?? '=<value>'}.`;
  return { kind: 'wrong', written, fault: 'without its value', remedy };
}

function given(option: Option, value: string): Argument {
  return { kind: 'option', option, value: octetsOfArgument(value) };
}

function unknown(written: string, nearest: string | undefined): Argument {
  const remedy = nearest === undefined ? SEE_HELP : `Did you mean --${nearest}?`;
  return { kind: 'wrong', written, fault: 'unknown option', remedy };
}
