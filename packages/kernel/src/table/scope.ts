/**
 * Whether a publication decides on a name that has no node: the reader's side of scopes.
 */
import {
  BELOW_ASK_ANY,
  BELOW_COMPLETE,
  PUBLICATION,
  SCOPE,
  SCOPE_FLAG,
  scopeBit,
  UNIT_SHIFT,
} from './layout.ts';
import type { QuestionReader } from './question.ts';

/**
 * Whether to look for the closest encloser: it may exist, and may decide otherwise than to continue. After the last
 * publication, the cached answers and the chain follow, as for names that a zone leaves to the chain.
 *
 * @param publication its record, as a word
 * @param isLast whether only cached answers and the chain come behind it
 */
export function isInScope(
  atoms: Int32Array,
  publication: number,
  question: QuestionReader,
  isLast: boolean,
): boolean {
  const { labels, labelStarts, nameLength } = question;
  const scope = (atoms[publication + (PUBLICATION.SCOPE >> 2)] ?? 0) << (UNIT_SHIFT - 2);
  const shape = atoms[scope] ?? 0;
  if ((shape & SCOPE_FLAG.DENIES) === 0 && (isLast || (shape & SCOPE_FLAG.ASKS) === 0)) return false;
  const kept = shape >>> 16;
  if (kept >= labels) return false;
  const from = labelStarts[labels - kept] ?? 0;
  const bit = scopeBit(question.wordAt(from), nameLength - from);
  return (((atoms[scope + (SCOPE.BITS >> 2) + (bit >> 5)] ?? 0) >>> (bit & 31)) & 1) === 1;
}

/** Whether names this many labels below a node are left to the chain. @param below as stored */
export function isLeftToChain(below: number, labels: number): boolean {
  return below !== BELOW_COMPLETE && (below === BELOW_ASK_ANY || below === labels);
}
