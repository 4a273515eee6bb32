/**
 * Values cut at their separators. Spaces around a separator belong to neither side.
 */

/** @returns what stands before the first `separator`, and what behind it, if there is one */
export function cut(text: string, separator: string): readonly [string, string | undefined] {
  const at = text.indexOf(separator);
  if (at < 0) return [text, undefined];
  return [withoutEndSpaces(text.slice(0, at)), withoutLeadSpaces(text.slice(at + 1))];
}

/**
 * All pieces, at least one; an empty text is one empty piece.
 *
 * @param max pieces; the last one is all that is left, separators included
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
