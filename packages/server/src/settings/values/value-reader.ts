/**
 * Reads values from the texts of flags. A wrong value is a problem; all problems are reported together.
 */
import { formatAddress, parseAddress } from '@portolan/dns/address.ts';
import { NameError, parseKey, ROOT } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import { formatDuration, parseDuration } from '@portolan/kernel/base/duration.ts';
import type { Problem } from './problem.ts';
import { formatSize, parseSize } from './size.ts';

/** Clients cannot ask for others by way of a search path. */
const ZONE = /^[\w-]+(\.[\w-]+)*\.?$/;

/** Reads values and collects their problems. */
export class ValueReader {
  readonly problems: Problem[];

  /** @param problems the list to add problems to */
  constructor(problems: Problem[] = []) {
    this.problems = problems;
  }

  addProblem(where: string, fault: string, value: string | undefined, remedy: string): void {
    this.problems.push({ where, fault, value, remedy });
  }

  /** @returns `fallback` if no value is given, or if it is wrong, so that reading can continue */
  integer<Fallback extends number | undefined>(
    where: string,
    text: string | undefined,
    range: IntegerRange,
    fallback: Fallback,
  ): number | Fallback {
    if (text === undefined) return fallback;
    const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= range.min && value <= range.max) return value;
    const fault = Number.isNaN(value) ? 'not a whole number' : 'out of range';
    this.addProblem(where, fault, text, `Give ${range.of} from ${range.min} to ${range.max}.`);
    return fallback;
  }

  choice<Choice extends string, Fallback extends Choice | undefined>(
    where: string,
    text: string | undefined,
    choices: readonly Choice[],
    fallback: Fallback,
  ): Choice | Fallback {
    if (text === undefined) return fallback;
    const chosen = choices.find((choice) => choice === text);
    if (chosen === undefined) this.addProblem(where, 'unknown', text, `Give ${formatChoices(choices)}.`);
    return chosen ?? fallback;
  }

  /** Octets. */
  size<Fallback extends number | undefined>(
    where: string,
    text: string | undefined,
    range: SizeRange,
    fallback: Fallback,
  ): number | Fallback {
    if (text === undefined) return fallback;
    const value = parseSize(text);
    if (value !== undefined && value >= range.min && value <= range.max) return value;
    const fault = value === undefined ? 'not a size' : 'out of range';
    const min = formatSize(range.min);
    const max = formatSize(range.max);
    this.addProblem(
      where,
      fault,
      text,
      `Give octets from ${min} to ${max}, with K, M or G for units of 1024.`,
    );
    return fallback;
  }

  /** Milliseconds. */
  duration<Fallback extends number | undefined>(
    where: string,
    text: string | undefined,
    fallback: Fallback,
  ): number | Fallback {
    if (text === undefined) return fallback;
    const value = parseDuration(text);
    if (value !== undefined) return value;
    const example = /^\d+$/.test(text) ? `${text}s` : formatDuration(fallback ?? 10_000);
    this.addProblem(
      where,
      'not a duration of at most 24h',
      text,
      `Give a number and its unit, as in ${example}.`,
    );
    return fallback;
  }

  /** Reads a zone name: letters, digits, dashes and underscores between dots; not the root. */
  zone(where: string, text: string | undefined, fallback: string): NameKey {
    const otherwise = parseKey(fallback);
    if (text === undefined) return otherwise;
    try {
      const key = parseKey(text);
      if (key !== ROOT && ZONE.test(text)) return key;
      if (key !== ROOT) {
        const remedy = `Give letters, digits and dashes between dots, as in ${fallback}`;
        this.addProblem(where, 'not the name of a zone', text, remedy);
        return otherwise;
      }
      this.addProblem(where, 'the root is not a zone of a cluster', text, `Give a name such as ${fallback}`);
    } catch (error) {
      if (!(error instanceof NameError)) throw error;
      this.addProblem(where, 'not a domain name', text, `Give a name such as ${fallback}`);
    }
    return otherwise;
  }

  /** Reads an IP address to its canonical form; an IPv6 address may have brackets. */
  address(where: string, text: string): string | undefined {
    const octets = parseAddress(/^\[(.*)\]$/.exec(text)?.[1] ?? text);
    if (octets !== undefined) return formatAddress(octets);
    this.addProblem(
      where,
      'not an IP address',
      text,
      'Give one such as 127.0.0.1 or ::1; names are not looked up.',
    );
    return undefined;
  }

  /** Reads a text that must not be empty. */
  nonEmpty(where: string, text: string | undefined, meaning: string): string | undefined {
    if (text === '') this.addProblem(where, 'empty', text, `Give ${meaning}, or leave the flag out.`);
    return text === '' ? undefined : text;
  }
}

/** In octets. */
export interface SizeRange {
  readonly min: number;
  readonly max: number;
}

export interface IntegerRange {
  readonly min: number;
  readonly max: number;
  /** The unit, as in "a number of seconds". */
  readonly of: string;
}

function formatChoices(words: readonly string[]): string {
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1) ?? ''}`;
}
