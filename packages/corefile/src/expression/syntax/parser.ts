/**
 * Reads an expression: operators by how tightly they bind, then what stands behind an operand.
 */
import { fromOctets } from '../text/octets.ts';
import { ExpressionError } from './expression-error.ts';
import { describeToken, ExpressionLexer, type ExpressionToken, type TokenKind } from './lexer.ts';
import { parseNumberLiteral } from './number-literal.ts';
import { BINARY, COMPARISONS, NEGATED, UNARY } from './operators.ts';
import { PREDICATE_FUNCTIONS } from './predicate-functions.ts';
import { type BinaryOperator, listParts, type Syntax, type SyntaxNode } from './syntax-tree.ts';

/** What the parser must know of names: a function of the environment may have the name of a built-in one. */
export interface KnownNames {
  isOfEnvironment(name: string): boolean;
  isBuiltIn(name: string): boolean;
}

/** As in expr-lang (`conf.DefaultMaxNodes`). */
const MAX_NODES = 10_000;
/** Expressions in expressions, and nodes in nodes. expr-lang has no bound but its stack. */
const MAX_NESTING = 200;
const MAX_DEPTH = 1000;
/** A part that stands for two (`b` of `a < b < c`, `a` of `a ?: b`) counts twice, so that parts in parts do not grow without bound. */
const MAX_SIZE = 20_000;

interface NodeMeasure {
  /** How many nodes are evaluated. */
  readonly size: number;
  readonly depth: number;
}

/** @throws ExpressionError */
export function parseExpression(text: string, names: KnownNames): SyntaxNode {
  return new ExpressionParser(text, names).parse();
}

class ExpressionParser {
  readonly #text: string;
  readonly #names: KnownNames;
  readonly #lexer: ExpressionLexer;
  #current: ExpressionToken;
  /** The token behind `not`, if `not` belongs to an outer operator. */
  #stashed: ExpressionToken | undefined;
  #nodes = 0;
  readonly #measures = new WeakMap<SyntaxNode, NodeMeasure>();
  #nesting = 0;
  /** How many predicates are open: only in them `#` has a meaning. */
  #predicates = 0;

  constructor(text: string, names: KnownNames) {
    this.#text = text;
    this.#names = names;
    this.#lexer = new ExpressionLexer(text);
    this.#current = this.#read();
  }

  parse(): SyntaxNode {
    const tree = this.#parseSequence();
    if (this.#current.kind !== 'EOF') throw this.#unexpected();
    return tree;
  }

  #read(): ExpressionToken {
    const token = this.#lexer.next();
    if (token === undefined) throw this.#fault('unexpected end of expression');
    return token;
  }

  #next(): void {
    this.#current = this.#stashed ?? this.#read();
    this.#stashed = undefined;
  }

  #fault(fault: string, { at } = this.#current): ExpressionError {
    return new ExpressionError(fault, this.#text, at);
  }

  #unexpected(token = this.#current): ExpressionError {
    return this.#fault(`unexpected token ${describeToken(token)}`);
  }

  #is(kind: TokenKind, value: string): boolean {
    return this.#current.kind === kind && this.#current.value === value;
  }

  #expect(kind: TokenKind, value: string): void {
    if (!this.#is(kind, value)) throw this.#unexpected();
    this.#next();
  }

  #make(node: Syntax, at: number): SyntaxNode {
    if (++this.#nodes > MAX_NODES)
      throw this.#fault('compilation failed: expression exceeds maximum allowed nodes');
    return this.#measure({ ...node, at });
  }

  #measure(node: SyntaxNode): SyntaxNode {
    let size = 1;
    let depth = 0;
    for (const part of listParts(node)) {
      const measure = this.#measures.get(part);
      size += measure?.size ?? 1;
      depth = Math.max(depth, measure?.depth ?? 1);
    }
    if (depth >= MAX_DEPTH) throw this.#fault('the expression is too deep');
    if (size > MAX_SIZE) throw this.#fault('the expression is too large');
    this.#measures.set(node, { size, depth: depth + 1 });
    return node;
  }

  /** `a; b; c`: the last one is the value. */
  #parseSequence(): SyntaxNode {
    const first = this.#parseExpression(0);
    const parts = [first];
    while (this.#is('Operator', ';')) {
      this.#next();
      if (this.#current.kind === 'EOF') break;
      parts.push(this.#parseExpression(0));
    }
    return parts.length === 1 ? first : this.#make({ kind: 'sequence', parts }, first.at);
  }

  /** @param binds how tightly an operator must bind at least */
  #parseExpression(binds: number): SyntaxNode {
    if (++this.#nesting > MAX_NESTING) throw this.#fault('the expression is too deep');
    const node = this.#parseOperators(binds);
    this.#nesting--;
    return node;
  }

  #parseOperators(binds: number): SyntaxNode {
    if (binds === 0 && this.#is('Operator', 'let')) return this.#parseLet();
    if (binds === 0 && this.#is('Operator', 'if')) return this.#parseIf();
    let left = this.#parsePrimary();
    let previous = '';
    while (this.#current.kind === 'Operator') {
      const isNegated = this.#is('Operator', 'not');
      if (isNegated && !this.#startsNegated(binds)) break;
      const token = this.#current;
      const word = BINARY.get(token.value);
      if (word === undefined || word.binds < binds) break;
      this.#next();
      if (word.operator === '|') {
        left = this.#parsePiped(left);
      } else {
        if (previous === '??' && word.operator !== '??')
          throw this.#fault(
            `Operator (${word.operator}) and coalesce expressions (??) cannot be mixed. Wrap either by parentheses.`,
            token,
          );
        left = this.#parseRight(left, token, word.operator);
        if (isNegated) left = this.#make({ kind: 'unary', operator: 'not', operand: left }, token.at);
      }
      previous = token.value;
    }
    return binds === 0 ? this.#parseChoices(left) : left;
  }

  /** Steps over the `not` of `not in`, unless it belongs to an outer operator. */
  #startsNegated(binds: number): boolean {
    const not = this.#current;
    this.#next();
    if (!NEGATED.has(this.#current.value)) throw this.#unexpected();
    if ((BINARY.get(this.#current.value)?.binds ?? 0) >= binds) return true;
    this.#stashed = this.#current;
    this.#current = not;
    return false;
  }

  #parsePiped(left: SyntaxNode): SyntaxNode {
    const name = this.#current;
    if (name.kind !== 'Identifier') throw this.#unexpected();
    this.#next();
    return this.#parseCall(name, [left]);
  }

  #parseRight(left: SyntaxNode, token: ExpressionToken, operator: BinaryOperator): SyntaxNode {
    const { binds = 0, isRightAssociative = false } = BINARY.get(operator) ?? {};
    if (COMPARISONS.has(operator)) return this.#parseComparisons(left, token, operator, binds);
    const right = this.#parseExpression(isRightAssociative ? binds : binds + 1);
    return this.#make({ kind: 'binary', operator, left, right }, token.at);
  }

  /** `a < b < c` is `a < b && b < c`. */
  #parseComparisons(
    first: SyntaxNode,
    token: ExpressionToken,
    operator: BinaryOperator,
    binds: number,
  ): SyntaxNode {
    const right = this.#parseExpression(binds + 1);
    let whole: SyntaxNode = this.#make({ kind: 'binary', operator, left: first, right }, token.at);
    for (let left = right; ; ) {
      const next = this.#current;
      const word = next.kind === 'Operator' ? BINARY.get(next.value)?.operator : undefined;
      if (word === undefined || word === '|' || !COMPARISONS.has(word)) return whole;
      this.#next();
      const further = this.#parseExpression(binds + 1);
      const comparison = this.#make({ kind: 'binary', operator: word, left, right: further }, next.at);
      whole = this.#make({ kind: 'binary', operator: '&&', left: whole, right: comparison }, next.at);
      left = further;
    }
  }

  #parseLet(): SyntaxNode {
    this.#next();
    const name = this.#current;
    if (name.kind !== 'Identifier') throw this.#unexpected();
    this.#next();
    this.#expect('Operator', '=');
    const value = this.#parseExpression(0);
    this.#expect('Operator', ';');
    const body = this.#parseSequence();
    return this.#make({ kind: 'let', name: name.value, value, body }, name.at);
  }

  /** `if a { b } else if c { d } else { e }` */
  #parseIf(): SyntaxNode {
    if (++this.#nesting > MAX_NESTING) throw this.#fault('the expression is too deep');
    this.#next();
    const test = this.#parseExpression(0);
    const whenTrue = this.#parseBranch();
    this.#expect('Operator', 'else');
    const whenFalse = this.#is('Operator', 'if') ? this.#parseIf() : this.#parseBranch();
    this.#nesting--;
    return this.#measure({ kind: 'conditional', test, whenTrue, whenFalse, at: 0 });
  }

  #parseBranch(): SyntaxNode {
    this.#expect('Bracket', '{');
    const branch = this.#parseSequence();
    this.#expect('Bracket', '}');
    return branch;
  }

  /** `a ? b : c`, and `a ?: c`. */
  #parseChoices(test: SyntaxNode): SyntaxNode {
    let node = test;
    while (this.#is('Operator', '?')) {
      this.#next();
      const whenTrue = this.#is('Operator', ':') ? node : this.#parseExpression(0);
      this.#expect('Operator', ':');
      const whenFalse = this.#parseExpression(0);
      node = this.#make({ kind: 'conditional', test: node, whenTrue, whenFalse }, this.#current.at);
    }
    return node;
  }

  #parsePrimary(): SyntaxNode {
    const token = this.#current;
    if (token.kind === 'Operator') {
      const prefixed = this.#parsePrefixed(token);
      if (prefixed !== undefined) return this.#parsePostfix(prefixed);
    }
    if (this.#is('Bracket', '(')) {
      this.#next();
      const inner = this.#parseSequence();
      this.#expect('Bracket', ')');
      return this.#parsePostfix(inner);
    }
    return this.#parseOperand();
  }

  /** An operator before its operand, an element in a predicate, or `::` before a built-in function. */
  #parsePrefixed(token: ExpressionToken): SyntaxNode | undefined {
    const unary = UNARY.get(token.value);
    if (unary !== undefined) {
      this.#next();
      const operand = this.#parseExpression(unary.binds);
      return this.#make({ kind: 'unary', operator: unary.operator, operand }, token.at);
    }
    if (this.#predicates > 0 && (token.value === '#' || token.value === '.'))
      return this.#parsePointer(token);
    if (token.value !== '::') return undefined;
    this.#next();
    const name = this.#current;
    if (name.kind !== 'Identifier') throw this.#unexpected();
    this.#next();
    return this.#parseCall(name, [], true);
  }

  /** `#`, `#index`, and the `.` of `.field`, which is read as what stands behind an operand. */
  #parsePointer(token: ExpressionToken): SyntaxNode {
    let name = '';
    if (token.value === '#') {
      this.#next();
      if (this.#current.kind === 'Identifier') {
        name = this.#current.value;
        this.#next();
      }
    }
    return this.#make({ kind: 'pointer', name }, token.at);
  }

  #parseOperand(): SyntaxNode {
    const token = this.#current;
    switch (token.kind) {
      case 'Identifier':
        return this.#parseName(token);
      case 'Number':
        return this.#parseNumber(token);
      case 'String':
      case 'Bytes': {
        this.#next();
        const kind = token.kind === 'String' ? 'string' : 'bytes';
        return this.#parsePostfix(this.#make({ kind, value: token.value }, token.at));
      }
      default:
        if (this.#is('Bracket', '[')) return this.#parsePostfix(this.#parseList(token));
        if (this.#is('Bracket', '{')) return this.#parsePostfix(this.#parseMap(token));
        throw this.#unexpected();
    }
  }

  #parseName(token: ExpressionToken): SyntaxNode {
    this.#next();
    if (token.value === 'true' || token.value === 'false')
      return this.#make({ kind: 'boolean', value: token.value === 'true' }, token.at);
    if (token.value === 'nil') return this.#make({ kind: 'nil' }, token.at);
    const node = this.#is('Bracket', '(')
      ? this.#parseCall(token, [])
      : this.#make({ kind: 'name', name: token.value }, token.at);
    return this.#parsePostfix(node);
  }

  #parseNumber(token: ExpressionToken): SyntaxNode {
    this.#next();
    const number = parseNumberLiteral(token.value);
    if (number.kind === 'bad') throw this.#fault(number.fault);
    return this.#make(number, token.at);
  }

  /** @param args what stands left of a pipe @param isBuiltIn whatever the environment has */
  #parseCall(name: ExpressionToken, args: readonly SyntaxNode[], isBuiltIn = false): SyntaxNode {
    const isOverridden = !isBuiltIn && this.#names.isOfEnvironment(name.value);
    const wanted = isOverridden ? undefined : PREDICATE_FUNCTIONS.get(name.value);
    if (wanted !== undefined) {
      const all = this.#parsePredicateArguments(wanted.slice(args.length), args);
      return this.#make({ kind: 'builtIn', name: name.value, args: all }, name.at);
    }
    if (!isOverridden && this.#names.isBuiltIn(name.value)) {
      const all = this.#parseArguments(args);
      return this.#make({ kind: 'builtIn', name: name.value, args: all }, name.at);
    }
    const callee = this.#make({ kind: 'name', name: name.value }, name.at);
    return this.#make({ kind: 'call', callee, args: this.#parseArguments(args) }, name.at);
  }

  #parseArguments(given: readonly SyntaxNode[]): readonly SyntaxNode[] {
    const args: SyntaxNode[] = [];
    this.#expect('Bracket', '(');
    this.#parseItems(')', () => args.push(this.#parseExpression(0)));
    return [...given, ...args];
  }

  /** Items with commas between them, and perhaps one behind, up to a bracket. */
  #parseItems(end: string, parseItem: () => void): void {
    for (let isFirst = true; !this.#is('Bracket', end); isFirst = false) {
      if (!isFirst) this.#expect('Operator', ',');
      if (!isFirst && this.#is('Bracket', end)) break;
      parseItem();
    }
    this.#next();
  }

  #parsePredicateArguments(wanted: readonly string[], given: readonly SyntaxNode[]): readonly SyntaxNode[] {
    const args = [...given];
    this.#expect('Bracket', '(');
    for (const [place, argument] of wanted.entries()) {
      if (this.#is('Bracket', ')')) {
        if (argument.endsWith('?')) break;
        throw this.#fault(`expected at least ${wanted.length} arguments`);
      }
      if (place > 0) this.#expect('Operator', ',');
      args.push(argument.startsWith('value') ? this.#parseExpression(0) : this.#parsePredicate());
    }
    if (this.#is('Operator', ',')) this.#next();
    this.#expect('Bracket', ')');
    return args;
  }

  #parsePredicate(): SyntaxNode {
    const { at } = this.#current;
    const hasBraces = this.#is('Bracket', '{');
    if (hasBraces) this.#next();
    this.#predicates++;
    const body = hasBraces ? this.#parseSequence() : this.#parseExpression(0);
    if (!hasBraces && this.#is('Operator', ';')) throw this.#fault('wrap predicate with brackets { and }');
    this.#predicates--;
    if (hasBraces) this.#expect('Bracket', '}');
    return this.#make({ kind: 'predicate', body }, at);
  }

  #parseList(token: ExpressionToken): SyntaxNode {
    const items: SyntaxNode[] = [];
    this.#next();
    this.#parseItems(']', () => items.push(this.#parseExpression(0)));
    return this.#make({ kind: 'list', items }, token.at);
  }

  #parseMap(token: ExpressionToken): SyntaxNode {
    const pairs: { key: SyntaxNode; value: SyntaxNode }[] = [];
    this.#next();
    this.#parseItems('}', () => {
      if (pairs.length > 0 && this.#is('Operator', ',')) throw this.#unexpected();
      const key = this.#parseKey();
      this.#expect('Operator', ':');
      pairs.push({ key, value: this.#parseExpression(0) });
      // A pair is a node of its own in expr-lang.
      this.#nodes++;
    });
    return this.#make({ kind: 'map', pairs }, token.at);
  }

  #parseKey(): SyntaxNode {
    const token = this.#current;
    if (this.#is('Bracket', '(')) return this.#parseExpression(0);
    if (token.kind !== 'Number' && token.kind !== 'String' && token.kind !== 'Identifier')
      throw this.#fault(
        `a map key must be a quoted string, a number, a identifier, or an expression enclosed in parentheses (unexpected token ${describeToken(token)})`,
      );
    const key = this.#make({ kind: 'string', value: token.value }, token.at);
    this.#next();
    return key;
  }

  /** `.name`, `?.name`, `.method(…)`, `[index]`, `[from:to]`. */
  #parsePostfix(operand: SyntaxNode): SyntaxNode {
    let node = operand;
    for (;;) {
      const token = this.#current;
      const isOptional = this.#is('Operator', '?.');
      if (this.#is('Bracket', '[')) {
        node = this.#parseIndex(node, false);
      } else if (isOptional || this.#is('Operator', '.')) {
        this.#next();
        node =
          isOptional && this.#is('Bracket', '[')
            ? this.#parseIndex(node, true)
            : this.#parseProperty(node, token.value === '?.');
      } else {
        return node;
      }
    }
  }

  #parseProperty(of: SyntaxNode, isOptional: boolean): SyntaxNode {
    const name = this.#current;
    this.#next();
    const isName =
      name.kind === 'Identifier' || (name.kind === 'Operator' && /^[\p{L}_$]/u.test(fromOctets(name.value)));
    if (!isName) throw this.#fault('expected name');
    const property = this.#make({ kind: 'string', value: name.value }, name.at);
    // What follows in a chain is part of it.
    const isChain = of.kind === 'chain';
    const isMethod = this.#is('Bracket', '(');
    const member = this.#make(
      { kind: 'member', of: isChain ? of.body : of, property, isOptional, isMethod },
      name.at,
    );
    const body = isMethod
      ? this.#make({ kind: 'call', callee: member, args: this.#parseArguments([]) }, name.at)
      : member;
    return isChain || isOptional ? this.#make({ kind: 'chain', body }, name.at) : body;
  }

  #parseIndex(of: SyntaxNode, isOptional: boolean): SyntaxNode {
    const { at } = this.#current;
    this.#next();
    const from = this.#is('Operator', ':') ? undefined : this.#parseExpression(0);
    if (from === undefined || this.#is('Operator', ':')) {
      this.#next();
      const to = this.#is('Bracket', ']') ? undefined : this.#parseExpression(0);
      const slice = this.#make({ kind: 'slice', of, from, to }, at);
      this.#expect('Bracket', ']');
      return slice;
    }
    const member = this.#make({ kind: 'member', of, property: from, isOptional, isMethod: false }, at);
    const node = isOptional ? this.#make({ kind: 'chain', body: member }, at) : member;
    this.#expect('Bracket', ']');
    return node;
  }
}
