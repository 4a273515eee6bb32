/**
 * Expressions of Corefiles, in the language of CoreDNS (expr-lang): their parts as data, and how a text is read.
 */
import { createRequire } from 'node:module';
import type { default as Jsep, Expression as ParsedExpression } from 'jsep';

export type Value = string | number | boolean | null | readonly Value[];

export type Expression =
  | { readonly kind: 'value'; readonly value: string | number | boolean | null }
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'list'; readonly items: readonly Expression[] }
  | { readonly kind: 'call'; readonly name: string; readonly args: readonly Expression[] }
  | { readonly kind: 'unary'; readonly operator: string; readonly operand: Expression }
  | {
      readonly kind: 'binary';
      readonly operator: string;
      readonly left: Expression;
      readonly right: Expression;
    }
  | {
      readonly kind: 'choice';
      readonly test: Expression;
      readonly whenTrue: Expression;
      readonly whenFalse: Expression;
    };

/** A text is no expression. The message is CoreDNS's: the fault, its place, and a mark below it. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';

  /** @param at offset into the text; undefined: no place */
  constructor(fault: string, text: string, at: number | undefined) {
    super(at === undefined ? fault : `${fault} (1:${at + 1})\n | ${text}\n | ${'.'.repeat(at)}^`);
  }
}

/** The operators of expr-lang and how tightly they bind. */
const BINARY: readonly (readonly [number, readonly string[]])[] = [
  [1, ['or', '||']],
  [2, ['and', '&&']],
  [3, ['==', '!=', '<', '>', '<=', '>=', 'in', 'not in', 'matches', 'contains', 'startsWith', 'endsWith']],
  [5, ['+', '-']],
  [6, ['*', '/', '%']],
  [7, ['**', '^']],
  [8, ['??']],
];
const RIGHT_ASSOCIATIVE: ReadonlySet<string> = new Set(['**', '^']);
const UNARY: readonly string[] = ['not', '!', '-', '+'];

/** The parser of this language. Its settings are the library's own, of the whole process. */
function configure(): typeof Jsep {
  // Loaded on demand: few Corefiles have expressions.
  const jsep = createRequire(import.meta.url)('jsep') as typeof Jsep;
  jsep.removeAllBinaryOps();
  jsep.removeAllUnaryOps();
  jsep.removeAllLiterals();
  for (const [precedence, operators] of BINARY)
    for (const operator of operators) jsep.addBinaryOp(operator, precedence, RIGHT_ASSOCIATIVE.has(operator));
  for (const operator of UNARY) jsep.addUnaryOp(operator);
  for (const [name, value] of Object.entries({ true: true, false: false, nil: null }))
    jsep.addLiteral(name, value);
  return jsep;
}

let configured: typeof Jsep | undefined;

/** Deeper expressions are refused: they would need too much stack. */
const MAX_DEPTH = 200;

/** @throws ExpressionError */
export function parseExpression(text: string): Expression {
  configured ??= configure();
  if (text.trim() === '') throw new ExpressionError('unexpected token EOF', text, undefined);
  return convert(parse(configured, text), text, 0);
}

function parse(parser: typeof Jsep, text: string): ParsedExpression {
  try {
    return parser(text);
  } catch (error) {
    const index = error instanceof Error && 'index' in error ? Number(error.index) : 0;
    const isEnd = text.slice(index).trim() === '';
    if (isEnd) throw new ExpressionError('unexpected token EOF', text, text.length - 1);
    throw new ExpressionError(`unexpected token ${JSON.stringify(text[index] ?? '')}`, text, index);
  }
}

/** The library leaves the parts of most nodes without a type. */
const readPart = (node: ParsedExpression, name: string): unknown => Reflect.get(node, name);

function convert(parsed: ParsedExpression, text: string, depth: number): Expression {
  if (depth > MAX_DEPTH) throw new ExpressionError('the expression is too deep', text, undefined);
  const part = (name: string): Expression =>
    convert(readPart(parsed, name) as ParsedExpression, text, depth + 1);
  const parts = (name: string): readonly Expression[] =>
    (readPart(parsed, name) as readonly ParsedExpression[]).map((each) => convert(each, text, depth + 1));
  switch (parsed.type) {
    case 'Literal':
      return { kind: 'value', value: readPart(parsed, 'value') as string | number | boolean | null };
    case 'ArrayExpression':
      return { kind: 'list', items: parts('elements') };
    case 'UnaryExpression':
      return { kind: 'unary', operator: String(readPart(parsed, 'operator')), operand: part('argument') };
    case 'BinaryExpression':
    case 'LogicalExpression':
      return {
        kind: 'binary',
        operator: String(readPart(parsed, 'operator')),
        left: part('left'),
        right: part('right'),
      };
    case 'ConditionalExpression':
      return {
        kind: 'choice',
        test: part('test'),
        whenTrue: part('consequent'),
        whenFalse: part('alternate'),
      };
    case 'CallExpression':
      return {
        kind: 'call',
        name: readFunctionName(readPart(parsed, 'callee') as ParsedExpression, text),
        args: parts('arguments'),
      };
    case 'Identifier':
      return { kind: 'variable', name: String(readPart(parsed, 'name')) };
    default:
      throw new ExpressionError('unexpected token', text, undefined);
  }
}

function readFunctionName(callee: ParsedExpression, text: string): string {
  if (callee.type === 'Identifier') return String(readPart(callee, 'name'));
  throw new ExpressionError('only functions can be called', text, undefined);
}

/** @param text the whole expression, to find the place of the name */
export function unknownName(name: string, text: string): ExpressionError {
  const at = new RegExp(`\\b${name.replace(/\$/g, '\\$')}\\b`).exec(text)?.index ?? 0;
  return new ExpressionError(`unknown name ${name}`, text, at);
}
