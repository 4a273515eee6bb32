/**
 * What a name that has no node is the concern of: the reader's side of the scopes of publications.
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
 * Whether the closest encloser must be looked for: it may be there, and what it says may be something else than to go on.
 * Behind the last publication there are cached answers and the chain, as where a zone leaves names to it.
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

/** Whether names so many labels below a node are left to the chain. @param below as it is stored */
export function isLeftToChain(below: number, labels: number): boolean {
  return below !== BELOW_COMPLETE && (below === BELOW_ASK_ANY || below === labels);
}
