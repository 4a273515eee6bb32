/**
 * Fills a parsed template with data.
 */
import { FUNCTIONS, LAZY_FUNCTIONS } from './functions.ts';
import type { Command, Operand, ParsedTemplate, Pipeline, Span, TemplateNode } from './nodes.ts';
import {
  isInteger,
  isList,
  isMap,
  isStruct,
  isTrue,
  showValue,
  TemplateFunctionError,
  type TemplateMethod,
  type TemplateValue,
  toGoTypeName,
} from './values.ts';

/** A fault while a template is filled, with the part that caused it. */
export class TemplateExecutionError extends Error {
  override readonly name = 'TemplateExecutionError';
  readonly span: Span;

  constructor(what: string, span: Span) {
    super(what);
    this.span = span;
  }
}

/** Records are smaller: a template beyond these bounds is out of control. */
const MAX_OUTPUT = 131_072;
const MAX_STEPS = 100_000;
/** Maximum nesting of templates. */
const MAX_DEPTH = 100;

/** @throws TemplateExecutionError */
export function executeTemplate(template: ParsedTemplate, data: TemplateValue): string {
  return new Execution(template).run(data);
}

type Signal = 'done' | 'break' | 'continue';
type TemplateVariables = Map<string, { value: TemplateValue }>;

class Execution {
  readonly #template: ParsedTemplate;
  #output = '';
  #steps = 0;
  #depth = 0;

  constructor(template: ParsedTemplate) {
    this.#template = template;
  }

  run(data: TemplateValue): string {
    this.#nodes(this.#template.nodes, data, new Map([['$', { value: data }]]));
    return this.#output;
  }

  #nodes(nodes: readonly TemplateNode[], dot: TemplateValue, variables: TemplateVariables): Signal {
    for (const node of nodes) {
      const signal = this.#node(node, dot, variables);
      if (signal !== 'done') return signal;
    }
    return 'done';
  }

  #node(node: TemplateNode, dot: TemplateValue, variables: TemplateVariables): Signal {
    switch (node.kind) {
      case 'text':
        this.#output += node.text;
        return 'done';
      case 'break':
      case 'continue':
        return node.kind;
      case 'template':
        return this.#fillIn(node, dot, variables);
      case 'action':
        this.#count(node);
        this.#act(node.pipeline, dot, variables);
        return 'done';
      case 'range':
        return this.#range(node, dot, variables);
      default:
        return this.#condition(node, dot, variables);
    }
  }

  #count(span: Span): void {
    this.#steps += 1;
    if (this.#steps > MAX_STEPS || this.#output.length > MAX_OUTPUT)
      throw new TemplateExecutionError('the template does not come to an end', span);
  }

  #act(pipeline: Pipeline, dot: TemplateValue, variables: TemplateVariables): void {
    const value = this.#pipeline(pipeline, dot, variables);
    if (pipeline.variables.length === 0) this.#output += showValue(value);
  }

  #condition(
    node: Extract<TemplateNode, { kind: 'if' | 'with' | 'range' }>,
    dot: TemplateValue,
    variables: TemplateVariables,
  ): Signal {
    const inner = new Map(variables);
    const value = this.#pipeline(node.pipeline, dot, inner);
    if (!isTrue(value)) return this.#nodes(node.otherwise, dot, inner);
    return this.#nodes(node.nodes, node.kind === 'with' ? value : dot, inner);
  }

  #range(
    node: Extract<TemplateNode, { kind: 'if' | 'with' | 'range' }>,
    dot: TemplateValue,
    variables: TemplateVariables,
  ): Signal {
    const inner = new Map(variables);
    const [first, second] = node.pipeline.variables;
    const value = this.#pipeline({ ...node.pipeline, variables: [] }, dot, inner);
    const elements = this.#elements(value, node.pipeline);
    if (elements.length === 0) return this.#nodes(node.otherwise, dot, inner);
    for (const [key, element] of elements) {
      this.#count(node);
      const own = new Map(inner);
      if (first !== undefined) this.#bind(node.pipeline, first, second === undefined ? element : key, own);
      if (second !== undefined) this.#bind(node.pipeline, second, element, own);
      if (this.#nodes(node.nodes, element, own) === 'break') break;
    }
    return 'done';
  }

  #elements(value: TemplateValue, span: Span): readonly (readonly [TemplateValue, TemplateValue])[] {
    if (isList(value)) return [...value.entries()];
    if (isMap(value)) return [...value.entries].sort(([a], [b]) => (a < b ? -1 : 1));
    if (isInteger(value) && value >= 0 && value <= MAX_STEPS)
      return Array.from({ length: Number(value) }, (_, index) => [index, index] as const);
    if (value === undefined) return [];
    throw new TemplateExecutionError(`range can't iterate over ${showValue(value)}`, span);
  }

  #fillIn(
    node: Extract<TemplateNode, { kind: 'template' }>,
    dot: TemplateValue,
    variables: TemplateVariables,
  ): Signal {
    this.#count(node);
    const nodes = this.#template.definitions.get(node.name);
    if (nodes === undefined)
      throw new TemplateExecutionError(`template ${JSON.stringify(node.name)} not defined`, node);
    const value = node.pipeline === undefined ? undefined : this.#pipeline(node.pipeline, dot, variables);
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw new TemplateExecutionError('exceeded maximum template depth', node);
    this.#nodes(nodes, value, new Map([['$', { value }]]));
    this.#depth -= 1;
    return 'done';
  }

  #pipeline(pipeline: Pipeline, dot: TemplateValue, variables: TemplateVariables): TemplateValue {
    let value: TemplateValue;
    for (const [index, command] of pipeline.commands.entries()) {
      const further = index === 0 ? [] : [value];
      value = this.#command(command, further, dot, variables);
    }
    for (const name of pipeline.variables) this.#bind(pipeline, name, value, variables);
    return value;
  }

  #bind(pipeline: Pipeline, name: string, value: TemplateValue, variables: TemplateVariables): void {
    const known = pipeline.assigns ? variables.get(name) : undefined;
    if (known === undefined) variables.set(name, { value });
    else known.value = value;
  }

  #command(
    command: Command,
    further: readonly TemplateValue[],
    dot: TemplateValue,
    variables: TemplateVariables,
  ): TemplateValue {
    const [first, ...operands] = command.operands;
    if (first === undefined) return undefined;
    const find = (operand: Operand): TemplateValue => this.#value(operand, [], dot, variables);
    if (first.kind === 'function') return this.#call(first.name, command, operands, further, find);
    const words = [...operands.map(find), ...further];
    return this.#value(first, words, dot, variables);
  }

  #call(
    name: string,
    span: Span,
    operands: readonly Operand[],
    further: readonly TemplateValue[],
    find: (operand: Operand) => TemplateValue,
  ): TemplateValue {
    if (operands.length + further.length === 0)
      throw new TemplateExecutionError(`wrong number of args for ${name}: want at least 1 got 0`, span);
    const values: TemplateValue[] = [];
    for (const operand of operands) {
      const value = find(operand);
      values.push(value);
      if (LAZY_FUNCTIONS.has(name) && isTrue(value) === (name === 'or')) return value;
    }
    try {
      return FUNCTIONS.get(name)?.([...values, ...further]);
    } catch (error) {
      if (!(error instanceof TemplateFunctionError)) throw error;
      throw new TemplateExecutionError(`error calling ${name}: ${error.message}`, span);
    }
  }

  /** @param words arguments of a method */
  #value(
    operand: Operand,
    words: readonly TemplateValue[],
    dot: TemplateValue,
    variables: TemplateVariables,
  ): TemplateValue {
    switch (operand.kind) {
      case 'field':
        return this.#walk(dot, operand.path, words, operand);
      case 'variable':
        return this.#walk(variables.get(operand.name)?.value, operand.path, words, operand);
      case 'pipeline':
        return this.#walk(this.#pipeline(operand.pipeline, dot, variables), operand.path, words, operand);
      case 'function':
        return this.#call(operand.name, operand, [], [], () => undefined);
    }
    if (words.length > 0) throw new TemplateExecutionError("can't give argument to non-function", operand);
    if (operand.kind === 'nil') throw new TemplateExecutionError('nil is not a command', operand);
    return operand.kind === 'value' ? operand.value : dot;
  }

  #walk(
    start: TemplateValue,
    path: readonly string[],
    words: readonly TemplateValue[],
    span: Span,
  ): TemplateValue {
    let value = start;
    for (const [index, name] of path.entries()) {
      const isLast = index === path.length - 1;
      const member = this.#member(value, name, span);
      if (typeof member === 'function') value = member(isLast ? words : []);
      else if (isLast && words.length > 0)
        throw new TemplateExecutionError(`${name} has arguments but cannot be invoked as function`, span);
      else value = member;
    }
    if (path.length === 0 && words.length > 0)
      throw new TemplateExecutionError("can't give argument to non-function", span);
    return value;
  }

  #member(value: TemplateValue, name: string, span: Span): TemplateValue | TemplateMethod {
    if (isMap(value)) return value.entries.get(name);
    if (isStruct(value) && Object.hasOwn(value.fields, name)) return value.fields[name];
    if (value === undefined)
      throw new TemplateExecutionError(`nil data; no entry for key ${JSON.stringify(name)}`, span);
    throw new TemplateExecutionError(`can't evaluate field ${name} in type ${toGoTypeName(value)}`, span);
  }
}
