/**
 * Domain names in text form: parses, compares and splits them.
 *
 * One name has one text: octets are escaped exactly where necessary (RFC 1035 section 5.1, RFC 4343 section 2.1). So
 * equal strings are equal names, and two keys compare with `===`. Names without escapes, nearly all of them, take
 * faster paths.
 */
import { MAX_LABEL_OCTETS, MAX_NAME_OCTETS, textOfOctet } from './label.ts';
import type { AbsoluteName, NameKey } from './types.ts';

export { encodeName } from './name-wire.ts';

export class NameError extends Error {
  override readonly name = 'NameError';
  readonly text: string;
  /** The character of `text` where parsing failed, from 0. */
  readonly position: number;

  constructor(what: string, text: string, position: number) {
    const shown = text.length > 300 ? `${text.slice(0, 300)}…` : text;
    super(`not a domain name, ${what} at character ${position}: ${JSON.stringify(shown)}`);
    this.text = text;
    this.position = position;
  }
}

/** The root of the name tree. */
export const ROOT = '.' as NameKey; // Canonical by inspection.

const DOT = 0x2e;
const BACKSLASH = 0x5c;

/** Absolute names of labels without escapes. The missing characters have a meaning in zone files. */
const PLAIN_NAME = /^(?:[!#%&'*+,\-/0-9:<=>?A-Z[\]^_`a-z{|}~]{1,63}\.)+$/;

/**
 * Parses a name with or without its final dot; the result is absolute. Escapes are `\X` and `\DDD`.
 *
 * @throws NameError if it is empty, has an empty or overlong label, is longer than 255 octets or not ASCII.
 */
export function parseName(text: string): AbsoluteName {
  const absolute = text.endsWith('.') ? text : `${text}.`;
  // The pattern checks exactly the brand's conditions. It does not match a text whose final dot is escaped.
  if (absolute.length < MAX_NAME_OCTETS && PLAIN_NAME.test(absolute)) return absolute as AbsoluteName;
  return text === '.' ? ROOT : parseEscapedName(text);
}

/** @returns undefined if the text is not a name */
export function tryParseName(text: string): AbsoluteName | undefined {
  try {
    return parseName(text);
  } catch (error) {
    if (error instanceof NameError) return undefined;
    throw error;
  }
}

/** The name in lower case. @throws NameError as `parseName` does */
export function parseKey(text: string): NameKey {
  return toKey(parseName(text));
}

/** The name in lower case. @returns undefined if the text is not a name */
export function tryParseKey(text: string): NameKey | undefined {
  const name = tryParseName(text);
  return name && toKey(name);
}

function parseEscapedName(text: string): AbsoluteName {
  if (text === '') throw new NameError('nothing (the root is written as a dot)', text, 0);
  let name = '';
  let octets = 1;
  let inLabel = 0;
  let position = 0;
  while (position < text.length) {
    if (text.charCodeAt(position) === DOT) {
      if (inLabel === 0) throw new NameError('an empty label', text, position);
      name += '.';
      inLabel = 0;
      position += 1;
      continue;
    }
    const { octet, next } = readOctet(text, position);
    if (inLabel === MAX_LABEL_OCTETS) throw new NameError('a label of more than 63 octets', text, position);
    octets += inLabel === 0 ? 2 : 1;
    if (octets > MAX_NAME_OCTETS) throw new NameError('more than 255 octets', text, position);
    inLabel += 1;
    name += textOfOctet(octet);
    position = next;
  }
  return (inLabel > 0 ? `${name}.` : name) as AbsoluteName; // Checked label by label above.
}

function readOctet(text: string, position: number): { octet: number; next: number } {
  const code = text.charCodeAt(position);
  if (code < 0x20 || code > 0x7e)
    throw new NameError('a character that must be written as \\DDD', text, position);
  if (code !== BACKSLASH) return { octet: code, next: position + 1 };
  const digits = /^\d{3}/.exec(text.slice(position + 1, position + 4))?.[0];
  if (digits !== undefined && Number(digits) <= 255) return { octet: Number(digits), next: position + 4 };
  const escaped = text.charCodeAt(position + 1);
  const isDigit = escaped >= 0x30 && escaped <= 0x39;
  // Also false for NaN: a backslash at the end of the text.
  if (!(escaped >= 0x20 && escaped <= 0x7e) || isDigit)
    throw new NameError('an incomplete escape', text, position);
  return { octet: escaped, next: position + 2 };
}

/** The form for comparison and look-up: ASCII letters in lower case (RFC 4343 section 3). */
export function toKey(name: AbsoluteName): NameKey {
  return name.toLowerCase() as NameKey; // An absolute name is ASCII, so this changes ASCII letters only.
}

/** The labels from left to right, in text form, without the root. */
export function splitLabels(name: AbsoluteName): readonly string[] {
  if (name === ROOT) return [];
  if (!name.includes('\\')) return name.slice(0, -1).split('.');
  const labels: string[] = [];
  for (let start = 0; start < name.length; ) {
    const end = endOfLabel(name, start);
    labels.push(name.slice(start, end));
    start = end + 1;
  }
  return labels;
}

/** The labels on the left that a name has more than its zone; all for the root. Does not compare the others. */
export function labelsBelow(name: AbsoluteName, zone: AbsoluteName): readonly string[] {
  const labels = splitLabels(name);
  return labels.slice(0, Math.max(0, labels.length - countLabels(zone)));
}

/**
 * The name with one more label on its left.
 *
 * @param label In text form; a dot inside must be escaped.
 * @throws NameError if it is not a single label, or the name becomes longer than 255 octets.
 */
export function joinName(label: string, parent: AbsoluteName): AbsoluteName {
  const name = parseName(parent === ROOT ? `${label}.` : `${label}.${parent}`);
  // A backslash at the end of the label would escape our dot.
  if (toParent(name) !== parent || isEscaped(label, label.length))
    throw new NameError('not one label', label, 0);
  return name;
}

/** The name without its leftmost label; undefined for the root. */
export function toParent<Name extends AbsoluteName>(name: Name): Name | undefined {
  if (name.length === 1) return undefined;
  const end = endOfLabel(name, 0);
  // Removing whole labels keeps a name absolute and a key lower case.
  return (end === name.length - 1 ? ROOT : name.slice(end + 1)) as Name;
}

/** The number of labels, 0 for the root to 127. */
export function countLabels(name: AbsoluteName): number {
  let count = 0;
  if (name === ROOT) return count;
  for (let start = 0; start < name.length; start = endOfLabel(name, start) + 1) count += 1;
  return count;
}

/** Whether `name` is `ancestor` or below it. */
export function isWithin(name: NameKey, ancestor: NameKey): boolean {
  if (ancestor === ROOT || name === ancestor) return true;
  const dot = name.length - ancestor.length - 1;
  return dot > 0 && name.charCodeAt(dot) === DOT && name.endsWith(ancestor) && !isEscaped(name, dot);
}

/** What `find` knows of the name itself, or of the closest name above it that it knows. */
export function findClosest<Found>(
  name: NameKey,
  find: (at: NameKey) => Found | undefined,
): Found | undefined {
  for (let at: NameKey | undefined = name; at !== undefined; at = toParent(at)) {
    const found = find(at);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The position of the dot that ends the label at `start`. */
function endOfLabel(name: AbsoluteName, start: number): number {
  let dot = name.indexOf('.', start);
  while (isEscaped(name, dot)) dot = name.indexOf('.', dot + 1);
  return dot;
}

function isEscaped(name: string, position: number): boolean {
  let first = position;
  while (first > 0 && name.charCodeAt(first - 1) === BACKSLASH) first -= 1;
  return (position - first) % 2 === 1;
}
