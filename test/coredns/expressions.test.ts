/**
 * Expressions beside what CoreDNS's library makes of them.
 */
import { readExpression } from '@portolan/corefile/expression/expression.ts';
import { ExpressionError } from '@portolan/corefile/expression/syntax/expression-error.ts';
import { SAMPLE_TYPES, SAMPLE_VALUES } from '@portolan/corefile/expression/testing/sample-environment.ts';
import { showValue } from '@portolan/corefile/expression/testing/show-value.ts';
import { EvaluationError } from '@portolan/corefile/expression/values/budget.ts';
import { expect, it } from 'vitest';
import { readRecording } from '../support/recordings.ts';

interface RecordedExpression {
  readonly expression: string;
  /** The message, if it does not compile. */
  readonly invalid?: string;
  /** What is known of its value, in Go's words. */
  readonly type?: string;
  readonly value?: string;
  /** It has no value. */
  readonly fails?: true;
}

/** In the form of the recording. */
function evaluateExpression(expression: string): RecordedExpression {
  try {
    const { type, evaluate } = readExpression(expression, SAMPLE_TYPES);
    // What is unknown is an interface to Go.
    const known = type.name === 'unknown' ? 'interface {}' : type.name;
    try {
      const value = showValue(evaluate(SAMPLE_VALUES, () => Date.UTC(2026, 0, 1)));
      return { expression, type: known, value };
    } catch (error) {
      if (!(error instanceof EvaluationError)) throw error;
      return { expression, type: known, fails: true };
    }
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return { expression, invalid: error.message };
  }
}

const cases = readRecording<RecordedExpression>('test/coredns/expressions.jsonl');

it('have the values and the messages of the original', () => {
  expect(cases.length).toBeGreaterThan(1000);
  const differences = cases.flatMap((recorded) => {
    const own = evaluateExpression(recorded.expression);
    return JSON.stringify(own) === JSON.stringify(recorded) ? [] : [{ recorded, own }];
  });
  expect(differences).toEqual([]);
});

it.each([
  ['[1, findLast([1], # > 2)]', '[]interface {} [bool false, nil]', '[]interface {} [int 1, nil]'],
  ['{"a": findLastIndex([1], # > 2)}', 'fails', 'map[string]interface {} {string "a": nil}'],
])('do not lose what stands before a search from the end: %s', (expression, original, own) => {
  // The original leaves a truth value of its loop on the stack.
  expect(original).not.toBe(own);
  expect(evaluateExpression(expression).value).toBe(own);
});
