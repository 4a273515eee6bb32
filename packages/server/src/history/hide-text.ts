/**
 * Names and addresses as hashes: equal ones can be counted and looked for, and not read. They hide no name that can be guessed.
 */
import { createHash } from 'node:crypto';

/** Hexadecimal digits: two of a million names are alike with a chance of 1 in 500,000. */
const DIGITS = 14;

export function hideText(text: string): string {
  return `#${createHash('sha256').update(text).digest('hex').slice(0, DIGITS)}`;
}
