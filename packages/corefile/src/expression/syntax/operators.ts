/**
 * The operators of expr-lang, and how tightly they bind.
 */
import type { BinaryOperator, UnaryOperator } from './syntax-tree.ts';

export const UNARY: ReadonlyMap<string, { readonly operator: UnaryOperator; readonly binds: number }> =
  new Map([
    ['not', { operator: 'not', binds: 50 }],
    ['!', { operator: '!', binds: 50 }],
    ['-', { operator: '-', binds: 90 }],
    ['+', { operator: '+', binds: 90 }],
  ]);

interface BinaryWord {
  /** A pipe is no operation: what is left of it is the first argument of the call to its right. */
  readonly operator: BinaryOperator | '|';
  readonly binds: number;
  readonly isRightAssociative: boolean;
}

const LEVELS: readonly (readonly [binds: number, operators: readonly BinaryWord['operator'][]])[] = [
  [0, ['|']],
  [10, ['or', '||']],
  [15, ['and', '&&']],
  [20, ['==', '!=', '<', '>', '>=', '<=', 'in', 'matches', 'contains', 'startsWith', 'endsWith']],
  [25, ['..']],
  [30, ['+', '-']],
  [60, ['*', '/', '%']],
  [100, ['**', '^']],
  [500, ['??']],
];

export const BINARY: ReadonlyMap<string, BinaryWord> = new Map(
  LEVELS.flatMap(([binds, operators]) =>
    operators.map((operator) => [operator, { operator, binds, isRightAssociative: binds === 100 }] as const),
  ),
);

/** Those that `not` may stand before. */
export const NEGATED: ReadonlySet<string> = new Set(['contains', 'matches', 'startsWith', 'endsWith', 'in']);

/** Those that form chains: `1 < size() <= 512`. */
export const COMPARISONS: ReadonlySet<string> = new Set(['<', '>', '>=', '<=']);
