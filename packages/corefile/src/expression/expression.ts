/**
 * Expressions of Corefiles, in the language of CoreDNS 1.14.7: expr-lang 1.17.8.
 *
 * A text is parsed, checked and rewritten when the Corefile is read, and becomes a function of the query.
 */
import { isBuiltInName } from './built-ins/built-ins.ts';
import { Checker, type EnvironmentTypes } from './check/checker.ts';
import { compileExpression } from './run/compile.ts';
import { rewriteExpression } from './run/rewrite.ts';
import type { EnvironmentValues } from './run/run.ts';
import { parseExpression } from './syntax/parser.ts';
import type { SyntaxNode } from './syntax/syntax-tree.ts';
import { declaredType, type GoType, UNKNOWN } from './types/go-type.ts';
import { Budget } from './values/budget.ts';
import type { ExpressionValue } from './values/value.ts';

export interface Expression {
  /** As it is evaluated. */
  readonly tree: SyntaxNode;
  /** What is known of its value before a query. */
  readonly type: GoType;
  /**
   * @param now milliseconds since 1970, for `now()`
   * @throws EvaluationError: it has no value for this query, or takes more than its bounds
   */
  readonly evaluate: (environment: EnvironmentValues, now: () => number) => ExpressionValue;
}

/** @param types of what its environment will have @throws ExpressionError */
export function readExpression(text: string, types: EnvironmentTypes): Expression {
  const parsed = parseExpression(text, {
    isOfEnvironment: (name) => types.has(name),
    isBuiltIn: (name) => name !== 'type' && isBuiltInName(name),
  });
  const checker = new Checker(text, types);
  checker.infer(parsed);
  const tree = rewriteExpression(parsed, checker.types, text);
  const compute = compileExpression(tree, checker.types);
  return {
    tree,
    type: declaredType(checker.types.get(tree) ?? UNKNOWN),
    evaluate: (environment, now) =>
      compute({ environment, context: { budget: new Budget(), now }, variables: [], scope: undefined }),
  };
}
