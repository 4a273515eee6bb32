/**
 * Regular expressions in directives.
 */
import { Pattern, PatternError } from '@portolan/kernel/base/pattern.ts';
import type { DirectiveError } from './directive-cursor.ts';

/** CoreDNS's limit in octets. */
const MAX_PATTERN_OCTETS = 10_000;

/** The faults of a pattern, in the words of its directive. */
export interface PatternFaults {
  /** @param lengths the actual and the maximum length: `10001 > 10000` */
  tooLong(lengths: string): DirectiveError;
  /** @param fault Go's message: ``error parsing regexp: missing closing ): `(` `` */
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
