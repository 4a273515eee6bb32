/**
 * Answers of the host that plugins from outside get: each plugin gets a copy of its own, so that no change reaches what others share.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Answer } from '../chain/answer.ts';
import { checkAnswer } from './checked-answer.ts';

interface Loan {
  readonly original: Answer;
  /** What the copy was made of. */
  readonly shown: Answer;
}

const loans = new WeakMap<Answer, Loan>();

/** The copy that a plugin gets. Its stored form is empty: only the host reads it. */
export function lendAnswer(original: Answer): Answer {
  const hasMemory = original.kind === 'forwarded' && original.memory !== undefined;
  const shown = hasMemory ? { ...original, memory: {} } : { ...original };
  const lent = copyValue(shown);
  loans.set(lent, { original, shown });
  return lent;
}

/**
 * What a plugin returns as an answer for the host. An unchanged copy stands for its original, which may hold what only the host can
 * make.
 *
 * @throws PluginAnswerError
 */
export function acceptAnswer(answer: Answer): Answer {
  const loan = loans.get(answer);
  return loan !== undefined && isDeepStrictEqual(answer, loan.shown) ? loan.original : checkAnswer(answer);
}

/** A deep copy of lists, octets and plain objects; anything else stays, such as the responses `following` a first one. */
function copyValue<Value>(value: Value): Value;
function copyValue(value: unknown): unknown {
  // `slice` of a Buffer would share its memory.
  if (value instanceof Uint8Array) return Uint8Array.prototype.slice.call(value);
  if (Array.isArray(value)) return value.map((each: unknown) => copyValue(each));
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, copyValue(part)]));
}
