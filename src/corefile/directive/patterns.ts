/**
 * Regular expressions in directives.
 */
import { Pattern, PatternError } from '../../base/pattern.ts';
import type { DirectiveError } from './directive-cursor.ts';

/** The limit of CoreDNS, in octets. */
const MAX_PATTERN_OCTETS = 10_000;

/** The faults a pattern may have, each with the words of its directive. */
export interface PatternFaults {
  /** @param lengths How long it is, and how long it may be: `10001 > 10000`. */
  tooLong(lengths: string): DirectiveError;
  /** @param fault What Go says: ``error parsing regexp: missing closing ): `(` ``. */
  invalid(fault: string): DirectiveError;
}

/** @throws DirectiveError */
export function compilePattern(source: string, faults: PatternFaults): Pattern {
  const octets = Buffer.byteLength(source);
  if (octets > MAX_PATTERN_OCTETS) throw faults.tooLong(`${octets} > ${MAX_PATTERN_OCTETS}`);
  try {
    return new Pattern(source);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    throw faults.invalid(error.message);
  }
}
