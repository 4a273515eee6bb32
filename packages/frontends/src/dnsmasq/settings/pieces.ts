/**
 * Splits values at separators, and trims spaces around the separators.
 */

/** @returns the text before the first `separator`, and the text after it if there is one */
export function cut(text: string, separator: string): readonly [string, string | undefined] {
  const at = text.indexOf(separator);
  if (at < 0) return [text, undefined];
  return [withoutEndSpaces(text.slice(0, at)), withoutLeadSpaces(text.slice(at + 1))];
}

/**
 * Splits a value into all its pieces; an empty text gives one empty piece.
 *
 * @param max the maximum number of pieces; the last one is the rest, separators included
 */
export function cutAll(text: string, separator = ',', max = Number.POSITIVE_INFINITY): readonly string[] {
  if (max === Number.POSITIVE_INFINITY && !text.includes(' ')) return text.split(separator);
  const pieces: string[] = [];
  let rest: string | undefined = text;
  while (rest !== undefined && pieces.length < max - 1) {
    const [piece, behind]: readonly [string, string | undefined] = cut(rest, separator);
    pieces.push(piece);
    rest = behind;
  }
  return rest === undefined ? pieces : [...pieces, rest];
}

export function withoutEndSpaces(text: string): string {
  let end = text.length;
  while (text[end - 1] === ' ') end -= 1;
  return text.slice(0, end);
}

export function withoutLeadSpaces(text: string): string {
  let start = 0;
  while (text[start] === ' ') start += 1;
  return text.slice(start);
}
