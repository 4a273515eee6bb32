/**
 * Writes names from octets to octets, as logs show them: without a string for each name.
 */
import { presentNameAsGo } from './go-name.ts';
import { LOWER_CASE, textOfOctet } from './label.ts';
import type { TextBuffer } from './text-buffer.ts';
import type { AbsoluteName } from './types.ts';

/** The text of each octet of a label. */
export interface NameText {
  /** Where it is one character; 0: look at `texts`. */
  readonly characters: Uint8Array;
  readonly texts: readonly string[];
}

const DOT = 0x2e;
/** An octet in decimal with its backslash. */
const MAX_OF_OCTET = 4;

/** The form of `readName`. */
export const NAME_TEXT = nameText((octet) => textOfOctet(octet));
/** In lower case, as Go writes it. */
export const GO_NAME_TEXT = nameText((octet) =>
  // A label of one octet, without the dot of a name.
  presentNameAsGo(textOfOctet(LOWER_CASE[octet] ?? 0) as AbsoluteName),
);

function nameText(formatOctet: (octet: number) => string): NameText {
  const texts = Array.from({ length: 256 }, (_, octet) => formatOctet(octet));
  return {
    texts,
    characters: Uint8Array.from(texts, (text) => (text.length === 1 ? text.charCodeAt(0) : 0)),
  };
}

/**
 * Adds a name.
 *
 * @param wire has the name from `start` on, without pointers; its root label is before `end`
 */
export function addName(
  into: TextBuffer,
  { characters, texts }: NameText,
  wire: Uint8Array,
  start: number,
  end: number,
): void {
  const octets = into.reserve(MAX_OF_OCTET * (end - start));
  let to = into.length;
  let at = start;
  for (let length = wire[at] ?? 0; length > 0; length = wire[at] ?? 0) {
    for (const last = at + length; at < last; ) {
      at += 1;
      const octet = wire[at] ?? 0;
      const character = characters[octet] ?? 0;
      if (character !== 0) octets[to++] = character;
      else for (const each of texts[octet] ?? '') octets[to++] = each.charCodeAt(0);
    }
    at += 1;
    octets[to++] = DOT;
  }
  if (at === start) octets[to++] = DOT;
  into.length = to;
}

/** Whether a name is at or below a zone. @param zone in lower case @param end of the name, behind its root label */
export function isWithinZone(wire: Uint8Array, start: number, end: number, zone: Uint8Array): boolean {
  const from = end - zone.length;
  let at = start;
  while (at < from) at += (wire[at] ?? 0) + 1;
  if (at !== from) return false;
  for (let index = 0; index < zone.length; index++)
    if (LOWER_CASE[wire[from + index] ?? 0] !== zone[index]) return false;
  return true;
}
