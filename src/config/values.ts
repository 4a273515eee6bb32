/**
 * Values of options in text, each with its own complaint. `serve`'s flags use them first; other front ends follow.
 */
import { formatAddress, parseAddress } from '../wire/address.ts';
import { NameError, parseName, ROOT, toKey } from '../wire/name.ts';
import type { NameKey } from '../wire/types.ts';
import { formatDuration, parseDuration } from './duration.ts';
import type { Problem } from './problem.ts';

/** Reads values one after the other and keeps every problem met on the way. */
export class ValueReader {
  readonly problems: Problem[] = [];

  complain(where: string, fault: string, value: string | undefined, remedy: string): void {
    this.problems.push({ where, fault, value, remedy });
  }

  /** @returns `fallback` where nothing is given, and also where the value is wrong, so that the next can be read. */
  integer(where: string, text: string | undefined, range: IntegerRange, fallback: number): number {
    if (text === undefined) return fallback;
    const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= range.least && value <= range.most) return value;
    const fault = Number.isNaN(value) ? 'not a whole number' : 'out of range';
    this.complain(where, fault, text, `Give ${range.of} from ${range.least} to ${range.most}.`);
    return fallback;
  }

  choice<Choice extends string>(
    where: string,
    text: string | undefined,
    choices: readonly Choice[],
    fallback: Choice,
  ): Choice {
    if (text === undefined) return fallback;
    const chosen = choices.find((choice) => choice === text);
    if (chosen === undefined) this.complain(where, 'unknown', text, `Give ${listOf(choices)}.`);
    return chosen ?? fallback;
  }

  /** Milliseconds. */
  duration(where: string, text: string | undefined, fallback: number): number {
    if (text === undefined) return fallback;
    const value = parseDuration(text);
    if (value !== undefined) return value;
    const example = /^\d+$/.test(text) ? `${text}s` : formatDuration(fallback);
    this.complain(
      where,
      'not a duration of at most 24h',
      text,
      `Give a number and its unit, as in ${example}.`,
    );
    return fallback;
  }

  /** A zone's name: any absolute name but the root. */
  zone(where: string, text: string | undefined, fallback: string): NameKey {
    const otherwise = toKey(parseName(fallback));
    if (text === undefined) return otherwise;
    try {
      const key = toKey(parseName(text));
      if (key !== ROOT) return key;
      this.complain(where, 'the root is not a zone of a cluster', text, `Give a name such as ${fallback}`);
    } catch (error) {
      if (!(error instanceof NameError)) throw error;
      this.complain(where, 'not a domain name', text, `Give a name such as ${fallback}`);
    }
    return otherwise;
  }

  /** An IP address in its canonical form; an IPv6 address may stand in brackets. */
  address(where: string, text: string): string | undefined {
    const octets = parseAddress(/^\[(.*)\]$/.exec(text)?.[1] ?? text);
    if (octets !== undefined) return formatAddress(octets);
    this.complain(
      where,
      'not an IP address',
      text,
      'Give one such as 127.0.0.1 or ::1; names are not looked up.',
    );
    return undefined;
  }

  /** A text that says something. */
  text(where: string, text: string | undefined, meaning: string): string | undefined {
    if (text === '') this.complain(where, 'empty', text, `Give ${meaning}, or leave the flag out.`);
    return text === '' ? undefined : text;
  }
}

export interface IntegerRange {
  readonly least: number;
  readonly most: number;
  /** What is counted, as in "a number of seconds". */
  readonly of: string;
}

function listOf(words: readonly string[]): string {
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1) ?? ''}`;
}
