/**
 * One evaluation of an expression.
 */
import type { SyntaxNode } from '../syntax/syntax-tree.ts';
import type { EvaluationContext, ExpressionValue } from '../values/value.ts';

/** What an expression finds by name: values, and functions of the query. */
export type EnvironmentValues = ReadonlyMap<string, ExpressionValue>;

/** The loop of a predicate. */
export interface LoopScope {
  readonly items: readonly ExpressionValue[];
  index: number;
  accumulator: ExpressionValue;
}

export interface Run {
  readonly environment: EnvironmentValues;
  readonly context: EvaluationContext;
  readonly variables: ExpressionValue[];
  /** The innermost loop. */
  scope: LoopScope | undefined;
}

/** Computes the value of a node. @throws EvaluationError */
export type Computation = (run: Run) => ExpressionValue;

/** Compiles a part of a node. */
export type CompilePart = (part: SyntaxNode) => Computation;
