/**
 * Parses the pieces of a template.
 */
import { FUNCTIONS } from './functions.ts';
import type { Command, Operand, ParsedTemplate, Pipeline, Span, TemplateNode } from './nodes.ts';
import { type ActionToken, splitTemplate, type TemplatePiece, TemplateSyntaxError } from './tokens.ts';

/** @throws TemplateSyntaxError */
export function parseTemplate(source: string): ParsedTemplate {
  return new TemplateParser(splitTemplate(source), source.length).parse();
}

/** The end of a list of parts: `end`, or `else` with the words behind it. */
interface Terminator extends Span {
  readonly keyword: 'end' | 'else';
  readonly rest: readonly ActionToken[];
}

const KEYWORDS: ReadonlySet<string> = new Set(
  'block break continue define else end if range nil template with true false'.split(' '),
);
/** Maximum nesting of parts and of parentheses, so that a long text cannot exhaust the stack. */
const MAX_DEPTH = 100;

class TemplateParser {
  readonly #pieces: readonly TemplatePiece[];
  readonly #length: number;
  readonly #definitions = new Map<string, readonly TemplateNode[]>();
  #at = 0;
  #depth = 0;
  #rangeDepth = 0;
  /** Variables in sight, innermost last. */
  #variables: string[] = ['$'];

  constructor(pieces: readonly TemplatePiece[], length: number) {
    this.#pieces = pieces;
    this.#length = length;
  }

  parse(): ParsedTemplate {
    const { nodes, terminator } = this.#list();
    if (terminator !== undefined)
      throw new TemplateSyntaxError(`unexpected {{${terminator.keyword}}}`, terminator.start);
    return { nodes, definitions: this.#definitions };
  }

  #list(): { nodes: readonly TemplateNode[]; terminator: Terminator | undefined } {
    const nodes: TemplateNode[] = [];
    for (let piece = this.#pieces[this.#at]; piece !== undefined; piece = this.#pieces[this.#at]) {
      this.#at += 1;
      if (piece.kind === 'text') {
        if (piece.text !== '') nodes.push(piece);
        continue;
      }
      const [first, ...rest] = piece.tokens;
      if (first === undefined) continue;
      const keyword = first.kind === 'word' ? first.text : '';
      if (keyword === 'end' || keyword === 'else')
        return { nodes, terminator: { keyword, rest, start: piece.start, end: piece.end } };
      const node = this.#node(keyword, rest, piece.tokens, piece);
      if (node !== undefined) nodes.push(node);
    }
    return { nodes, terminator: undefined };
  }

  #node(
    keyword: string,
    rest: readonly ActionToken[],
    all: readonly ActionToken[],
    span: Span,
  ): TemplateNode | undefined {
    switch (keyword) {
      case 'if':
      case 'with':
      case 'range':
        return this.#control(keyword, rest, span);
      case 'define':
        return this.#define(rest, span);
      case 'block':
        return this.#block(rest, span);
      case 'template':
        return this.#template(rest, span);
      case 'break':
      case 'continue':
        if (this.#rangeDepth === 0)
          throw new TemplateSyntaxError(`{{${keyword}}} outside {{range}}`, span.start);
        return { kind: keyword };
      default:
        return {
          kind: 'action',
          pipeline: this.#pipeline(all, 'command', span),
          start: span.start,
          end: span.end,
        };
    }
  }

  #control(kind: 'if' | 'with' | 'range', tokens: readonly ActionToken[], span: Span): TemplateNode {
    this.#enter(span);
    const outer = [...this.#variables];
    const pipeline = this.#pipeline(tokens, kind, span);
    if (kind === 'range') this.#rangeDepth += 1;
    const { nodes, terminator } = this.#list();
    if (kind === 'range') this.#rangeDepth -= 1;
    const otherwise = this.#otherwise(kind, terminator);
    this.#variables = outer;
    this.#depth -= 1;
    return { kind, pipeline, nodes, otherwise, start: span.start, end: span.end };
  }

  #otherwise(kind: string, terminator: Terminator | undefined): readonly TemplateNode[] {
    if (terminator === undefined) throw new TemplateSyntaxError('unexpected EOF', this.#length);
    if (terminator.keyword === 'end') return [];
    const [first, ...rest] = terminator.rest;
    const keyword = first?.kind === 'word' ? first.text : '';
    // `else if` is short for an `if` inside the `else`; its `end` ends both.
    if (first !== undefined && keyword === kind && (kind === 'if' || kind === 'with'))
      return [this.#control(kind, rest, terminator)];
    if (first !== undefined) throw unexpected(first, 'else');
    const { nodes, terminator: end } = this.#list();
    if (end?.keyword === 'end') return nodes;
    throw new TemplateSyntaxError(
      end === undefined ? 'unexpected EOF' : 'expected end; found {{else}}',
      end?.start ?? this.#length,
    );
  }

  #define([name, ...rest]: readonly ActionToken[], span: Span): undefined {
    if (name?.kind !== 'string' || rest.length > 0)
      throw new TemplateSyntaxError('unexpected token in define clause', span.start);
    this.#body(String(name.value), span);
  }

  #block([name, ...rest]: readonly ActionToken[], span: Span): TemplateNode {
    if (name?.kind !== 'string')
      throw new TemplateSyntaxError('unexpected token in block clause', span.start);
    const pipeline = this.#pipeline(rest, 'block clause', span);
    this.#body(String(name.value), span);
    return { kind: 'template', name: String(name.value), pipeline, start: span.start, end: span.end };
  }

  #body(name: string, span: Span): void {
    this.#enter(span);
    const outer = this.#variables;
    const rangeDepth = this.#rangeDepth;
    this.#variables = ['$'];
    this.#rangeDepth = 0;
    const { nodes, terminator } = this.#list();
    if (terminator?.keyword !== 'end') throw new TemplateSyntaxError('unexpected EOF', this.#length);
    this.#definitions.set(name, nodes);
    this.#variables = outer;
    this.#rangeDepth = rangeDepth;
    this.#depth -= 1;
  }

  #template([name, ...rest]: readonly ActionToken[], span: Span): TemplateNode {
    if (name?.kind !== 'string')
      throw new TemplateSyntaxError('unexpected token in template clause', span.start);
    const pipeline = rest.length === 0 ? undefined : this.#pipeline(rest, 'template clause', span);
    return { kind: 'template', name: String(name.value), pipeline, start: span.start, end: span.end };
  }

  #enter(span: Span): void {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH)
      throw new TemplateSyntaxError(`more than ${MAX_DEPTH} parts inside each other`, span.start);
  }

  #pipeline(tokens: readonly ActionToken[], context: string, span: Span): Pipeline {
    const { variables, assigns, rest } = readVariables(tokens, context);
    const commands = splitAt(rest, '|').map((words) => {
      const first = words[0];
      const last = words.at(-1);
      if (first === undefined || last === undefined)
        throw new TemplateSyntaxError(`missing value for ${context}`, span.start);
      return { operands: this.#operands(words), start: first.start, end: last.end } satisfies Command;
    });
    for (const [index, { operands, start }] of commands.entries())
      if (index > 0 && !mayTakeValue(operands[0]))
        throw new TemplateSyntaxError(`non executable command in pipeline stage ${index + 1}`, start);
    for (const name of variables)
      if (!assigns) this.#variables.push(name);
      else this.#requireVariable(name, span.start);
    const start = tokens[0]?.start ?? span.start;
    const end = tokens.at(-1)?.end ?? span.end;
    return { variables, assigns, commands, start, end };
  }

  #operands(tokens: readonly ActionToken[]): Operand[] {
    const operands: Operand[] = [];
    for (let at = 0; at < tokens.length; ) {
      const first = tokens[at];
      if (first === undefined) break;
      if (operands.length > 0 && !first.isApart) throw unexpected(first, 'operand');
      const { operand, next } = this.#operand(tokens, at, first);
      operands.push(operand);
      at = next;
    }
    return operands;
  }

  #operand(
    tokens: readonly ActionToken[],
    at: number,
    first: ActionToken,
  ): { operand: Operand; next: number } {
    if (first.kind === 'sign' && first.text === '(') return this.#parenthesis(tokens, at, first);
    const { path, next } = readPath(tokens, at + 1);
    const span = { start: first.start, end: tokens[next - 1]?.end ?? first.end };
    if (first.kind === 'variable') {
      this.#requireVariable(first.text, first.start);
      return { operand: { kind: 'variable', name: first.text, path, ...span }, next };
    }
    if (first.kind === 'field')
      return { operand: { kind: 'field', path: [first.text, ...path], ...span }, next };
    if (path.length > 0) throw new TemplateSyntaxError('unexpected . after term', first.start);
    return { operand: literal(first, span), next };
  }

  #parenthesis(
    tokens: readonly ActionToken[],
    at: number,
    open: ActionToken,
  ): { operand: Operand; next: number } {
    this.#enter(open);
    const close = findClosing(tokens, at);
    if (close < 0) throw new TemplateSyntaxError('unclosed left paren', open.start);
    const pipeline = this.#pipeline(tokens.slice(at + 1, close), 'parenthesized pipeline', open);
    const { path, next } = readPath(tokens, close + 1);
    this.#depth -= 1;
    const end = tokens[next - 1]?.end ?? open.end;
    return { operand: { kind: 'pipeline', pipeline, path, start: open.start, end }, next };
  }

  #requireVariable(name: string, at: number): void {
    if (!this.#variables.includes(name))
      throw new TemplateSyntaxError(`undefined variable ${JSON.stringify(name)}`, at);
  }
}

function readVariables(
  tokens: readonly ActionToken[],
  context: string,
): { variables: readonly string[]; assigns: boolean; rest: readonly ActionToken[] } {
  const none = { variables: [], assigns: false, rest: tokens };
  const [first, sign, second, other] = tokens;
  if (first?.kind !== 'variable' || sign?.kind !== 'sign') return none;
  if (sign.text === ':=' || sign.text === '=')
    return { variables: [first.text], assigns: sign.text === '=', rest: tokens.slice(2) };
  if (sign.text !== ',' || second?.kind !== 'variable' || other?.kind !== 'sign') return none;
  if (other.text !== ':=' && other.text !== '=') return none;
  if (context !== 'range') throw new TemplateSyntaxError(`too many declarations in ${context}`, first.start);
  return { variables: [first.text, second.text], assigns: other.text === '=', rest: tokens.slice(4) };
}

/** Reads fields that follow without a blank. */
function readPath(tokens: readonly ActionToken[], from: number): { path: string[]; next: number } {
  const path: string[] = [];
  let next = from;
  for (let token = tokens[next]; token?.kind === 'field' && !token.isApart; token = tokens[next]) {
    path.push(token.text);
    next += 1;
  }
  return { path, next };
}

function literal(token: ActionToken, span: Span): Operand {
  if (token.kind === 'string' || token.kind === 'number')
    return { kind: 'value', value: token.value, ...span };
  if (token.kind === 'sign' && token.text === '.') return { kind: 'dot', ...span };
  if (token.kind !== 'word') throw unexpected(token, 'operand');
  if (token.text === 'true' || token.text === 'false')
    return { kind: 'value', value: token.text === 'true', ...span };
  if (token.text === 'nil') return { kind: 'nil', ...span };
  if (KEYWORDS.has(token.text)) throw unexpected(token, 'operand');
  if (!FUNCTIONS.has(token.text))
    throw new TemplateSyntaxError(`function ${JSON.stringify(token.text)} not defined`, token.start);
  return { kind: 'function', name: token.text, ...span };
}

/** Whether the operand can take a piped value, as the last argument of a function or method. */
function mayTakeValue(operand: Operand | undefined): boolean {
  return (
    operand !== undefined && operand.kind !== 'value' && operand.kind !== 'dot' && operand.kind !== 'nil'
  );
}

function splitAt(tokens: readonly ActionToken[], sign: string): ActionToken[][] {
  const parts: ActionToken[][] = [[]];
  let depth = 0;
  for (const token of tokens) {
    const text = token.kind === 'sign' ? token.text : '';
    if (text === '(') depth += 1;
    if (text === ')') depth -= 1;
    if (depth < 0) throw unexpected(token, 'command');
    if (text === sign && depth === 0) parts.push([]);
    else parts.at(-1)?.push(token);
  }
  return parts;
}

function findClosing(tokens: readonly ActionToken[], open: number): number {
  let depth = 0;
  for (let at = open; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token?.kind !== 'sign') continue;
    if (token.text === '(') depth += 1;
    if (token.text === ')') depth -= 1;
    if (depth === 0) return at;
  }
  return -1;
}

function unexpected(token: ActionToken, context: string): TemplateSyntaxError {
  const text = 'text' in token ? token.text : String(token.value);
  return new TemplateSyntaxError(`unexpected ${JSON.stringify(text)} in ${context}`, token.start);
}
