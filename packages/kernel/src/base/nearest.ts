/**
 * Finds the known word that an unknown one was probably meant to be.
 */

/** Two words are near if they differ by at most this part of the longer one. */
const MAX_CHANGED_PART = 0.4;

/**
 * It examines only candidates of similar length, so that a word of any length costs little.
 *
 * @returns the candidate with the fewest one-character changes, if they are few for a word of that length
 */
export function findNearest(word: string, candidates: Iterable<string>): string | undefined {
  let nearest: string | undefined;
  let fewest = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    if (!isPartOf(word, candidate) && !isOfLikeLength(word, candidate)) continue;
    const distance = isPartOf(word, candidate) ? 1 : countChanges(word, candidate);
    if (distance < fewest) {
      fewest = distance;
      nearest = candidate;
    }
  }
  return nearest !== undefined && fewest <= maxChanges(word, nearest) ? nearest : undefined;
}

const maxChanges = (word: string, candidate: string): number =>
  Math.max(word.length, candidate.length) * MAX_CHANGED_PART;

/** Each additional character of one word counts as a change. */
function isOfLikeLength(word: string, candidate: string): boolean {
  return Math.abs(word.length - candidate.length) <= maxChanges(word, candidate);
}

/** A truncated word, or one without its prefix (`port` for `dns-port`), is near, however long the rest is. */
function isPartOf(word: string, candidate: string): boolean {
  return word.length >= 4 && (candidate.endsWith(`-${word}`) || candidate.startsWith(`${word}-`));
}

/**
 * The number of characters to insert, delete, replace or swap with a neighbour to make one word of the other.
 *
 * @param max beyond which the number does not matter: it may be any above `max` then
 */
export function countChanges(from: string, to: string, max: number = Number.POSITIVE_INFINITY): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  let leastOfLast = 0;
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    let least = row;
    for (let column = 1; column <= to.length; column += 1) {
      const same = from[row - 1] === to[column - 1];
      const swapped =
        row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      const changes = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
        swapped ? (beforeLast[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
      current.push(changes);
      if (changes < least) least = changes;
    }
    // What follows comes of these two rows.
    if (least > max && leastOfLast > max) return least;
    beforeLast = last;
    last = current;
    leastOfLast = least;
  }
  return last[to.length] ?? 0;
}
