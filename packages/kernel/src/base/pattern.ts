/**
 * Regular expressions in Go's syntax, matched in time linear in the text: patterns of a configuration are matched
 * against names from untrusted clients.
 */
import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';

/** Loaded on demand: its code is large, and most configurations have no patterns. */
let loaded: typeof import('re2js') | undefined;

function library(): typeof import('re2js') {
  loaded ??= createRequire(import.meta.url)('re2js') as typeof import('re2js');
  return loaded;
}

/** A pattern that does not compile. The message is Go's: ``error parsing regexp: missing closing ): `(` ``. */
export class PatternError extends Error {
  override readonly name = 'PatternError';
}

/** The matches of a pattern's groups, the whole match first; undefined for a group that did not take part. */
export type PatternGroups = readonly (string | undefined)[];

export class Pattern {
  readonly source: string;
  /** Names of groups with their numbers, from 1. */
  readonly groupNames: ReadonlyMap<string, number>;
  /** Does not count the whole match. */
  readonly groupCount: number;
  readonly #compiled: RE2JS;

  /** @throws PatternError */
  constructor(source: string) {
    this.source = source;
    const { RE2JS, RE2JSException } = library();
    try {
      this.#compiled = RE2JS.compile(source);
    } catch (error) {
      if (!(error instanceof RE2JSException)) throw error;
      throw new PatternError(error.message);
    }
    this.groupCount = this.#compiled.groupCount();
    this.groupNames = new Map(Object.entries(this.#compiled.namedGroups()));
  }

  /** Whether it matches anywhere in the text: a pattern is not anchored by itself. */
  test(text: string): boolean {
    return this.#compiled.test(text);
  }

  /** The leftmost match, or undefined. */
  match(text: string): PatternGroups | undefined {
    // Most names match no pattern, and testing takes a sixth of the time of finding groups.
    if (!this.test(text)) return undefined;
    const matcher = this.#compiled.matcher(text);
    if (!matcher.find()) return undefined;
    return Array.from({ length: this.groupCount + 1 }, (_, number) => matcher.group(number) ?? undefined);
  }
}
