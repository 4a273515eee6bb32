/**
 * Makes a function of an expression: each node becomes one that computes its value.
 */

import { needBoolean, needText } from '../built-ins/built-in.ts';
import { findBuiltIn } from '../built-ins/built-ins.ts';
import { fetchMember, sliceValue } from '../built-ins/members.ts';
import { ENVIRONMENT, type NodeTypes } from '../check/checker.ts';
import { PREDICATE_FUNCTIONS } from '../syntax/predicate-functions.ts';
import type { NodeOf, SyntaxNode } from '../syntax/syntax-tree.ts';
import { EvaluationError } from '../values/budget.ts';
import { describeType, isNil, toIdentity } from '../values/describe-value.ts';
import { negate } from '../values/numbers.ts';
import {
  type EvaluationContext,
  type ExpressionValue,
  GoBytes,
  GoFunction,
  GoMap,
  GoSlice,
} from '../values/value.ts';
import { compileBinary } from './compile-binary.ts';
import { compilePredicateCall } from './compile-predicate.ts';
import type { CompilePart, Computation, Run } from './run.ts';

/** Variables that are in reach, by name, with their places. */
type Variables = ReadonlyMap<string, number>;

const NO_VARIABLES: Variables = new Map();

/** @param types of the nodes, as far as they were checked */
export function compileExpression(tree: SyntaxNode, types: NodeTypes): Computation {
  return new Compiler(types).compile(tree, NO_VARIABLES);
}

class Compiler {
  readonly #types: NodeTypes;
  #variables = 0;

  constructor(types: NodeTypes) {
    this.#types = types;
  }

  compile(node: SyntaxNode, variables: Variables): Computation {
    const compile = (part: SyntaxNode): Computation => this.compile(part, variables);
    switch (node.kind) {
      case 'nil':
        return () => null;
      case 'boolean':
      case 'integer':
      case 'float':
      case 'string': {
        const { value } = node;
        return () => value;
      }
      case 'bytes': {
        const bytes = new GoBytes(node.value);
        return () => bytes;
      }
      case 'name':
        return compileName(node, variables);
      case 'unary':
        return compileUnary(node, compile);
      case 'binary':
        return compileBinary(node, compile, this.#types);
      case 'chain': {
        const link = compileLink(node.body, compile);
        return (run) => {
          const value = link(run) ?? null;
          return isNil(value) ? null : value;
        };
      }
      case 'member':
      case 'call':
        return compileWhole(compileLink(node, compile));
      case 'slice':
        return compileSlice(node, compile);
      case 'builtIn':
        return PREDICATE_FUNCTIONS.has(node.name)
          ? compilePredicateCall(node, compile)
          : compileBuiltIn(node, compile);
      case 'predicate':
        return compile(node.body);
      case 'pointer':
        return compilePointer(node.name);
      case 'let':
        return this.#compileLet(node, variables);
      case 'sequence':
        return compileSequence(node.parts.map(compile));
      case 'conditional':
        return compileConditional(node, compile);
      case 'list':
      case 'set':
        return compileList(node.items.map(compile));
      case 'map':
        return compileMap(node, compile);
    }
  }

  #compileLet({ name, value, body }: NodeOf<'let'>, variables: Variables): Computation {
    const computeValue = this.compile(value, variables);
    const place = this.#variables++;
    const computeBody = this.compile(body, new Map([...variables, [name, place]]));
    return (run) => {
      run.variables[place] = computeValue(run);
      return computeBody(run);
    };
  }
}

/** What gives undefined where a chain of optional members ends. */
type Link = (run: Run) => ExpressionValue | undefined;

function compileWhole(link: Link): Computation {
  return (run) => link(run) ?? null;
}

function compileName({ name }: NodeOf<'name'>, variables: Variables): Computation {
  const place = variables.get(name);
  if (place !== undefined) return (run) => run.variables[place] ?? null;
  if (name === ENVIRONMENT) return makeEnvironment;
  return (run) => run.environment.get(name) ?? null;
}

function makeEnvironment({ environment, context: { budget } }: Run): GoMap {
  budget.takeSteps(environment.size);
  const map = new GoMap();
  for (const [name, value] of environment) map.set(toIdentity(name, budget), name, value);
  return map;
}

function compileUnary({ operator, operand }: NodeOf<'unary'>, compile: CompilePart): Computation {
  const compute = compile(operand);
  if (operator === '+') return compute;
  if (operator === '-') return (run) => negate(compute(run));
  return (run) => !needBoolean(compute(run));
}

/** Members and calls of which one may end the chain. */
function compileLink(node: SyntaxNode, compile: CompilePart): Link {
  if (node.kind === 'call') return compileCall(node, compile);
  if (node.kind !== 'member') return compile(node);
  const of = compileLink(node.of, compile);
  const property = compile(node.property);
  return (run) => {
    const value = of(run);
    if (value === undefined || (node.isOptional && isNil(value))) return undefined;
    return fetchMember(value, property(run), run.context.budget);
  };
}

function compileCall({ callee, args }: NodeOf<'call'>, compile: CompilePart): Link {
  const find = compileLink(callee, compile);
  const [first, second, ...further] = args.map(compile);
  const call = (run: Run, values: readonly ExpressionValue[]) => {
    const called = find(run);
    return called === undefined ? undefined : callFunction(called, values, run);
  };
  // Most functions have no more than two arguments.
  if (first === undefined) return (run) => call(run, []);
  if (second === undefined) return (run) => call(run, [first(run)]);
  if (further.length === 0) return (run) => call(run, [first(run), second(run)]);
  const all = [first, second, ...further];
  return (run) =>
    call(
      run,
      all.map((compute) => compute(run)),
    );
}

function callFunction(
  called: ExpressionValue,
  args: readonly ExpressionValue[],
  { context }: Run,
): ExpressionValue {
  if (!(called instanceof GoFunction))
    throw new EvaluationError(
      called === null
        ? 'invalid operation: cannot call nil'
        : `invalid operation: cannot call non-function of type ${describeType(called)}`,
    );
  const { parameters } = called;
  if (args.length !== parameters.length)
    throw new EvaluationError(
      `invalid number of arguments: expected ${parameters.length}, got ${args.length}`,
    );
  for (let place = 0; place < args.length; place++)
    checkArgument(args[place] ?? null, parameters[place] ?? 'interface {}', context);
  return called.call(args, context);
}

/** @throws EvaluationError: it is of another type */
function checkArgument(arg: ExpressionValue, wanted: string, { budget }: EvaluationContext): void {
  // Most arguments are texts.
  if (typeof arg === 'string') {
    budget.takeScan(arg.length);
    if (wanted === 'string') return;
  }
  if (wanted !== 'interface {}' && describeType(arg) !== wanted)
    throw new EvaluationError(`reflect: Call using ${describeType(arg)} as type ${wanted}`);
}

function compileSlice({ of, from, to }: NodeOf<'slice'>, compile: CompilePart): Computation {
  const computeWhole = compile(of);
  const computeFrom = from && compile(from);
  const computeTo = to && compile(to);
  return (run) => {
    const value = computeWhole(run);
    const end = computeTo?.(run);
    const part = sliceValue(value, computeFrom?.(run), end);
    if (part instanceof GoSlice) run.context.budget.takeSteps(part.items.length);
    return part;
  };
}

function compileBuiltIn({ name, args }: NodeOf<'builtIn'>, compile: CompilePart): Computation {
  const builtIn = findBuiltIn(name);
  if (builtIn === undefined) throw new TypeError(`no built-in function ${name}`);
  const all = args.map(compile);
  const { call } = builtIn;
  return (run) =>
    call(
      all.map((compute) => compute(run)),
      run.context,
    );
}

function compilePointer(name: string): Computation {
  return ({ scope }) => {
    if (scope === undefined) throw new EvaluationError('cannot use pointer accessor outside predicate');
    if (name === 'index') return BigInt(scope.index);
    return name === 'acc' ? scope.accumulator : (scope.items[scope.index] ?? null);
  };
}

function compileSequence(parts: readonly Computation[]): Computation {
  return (run) => {
    let value: ExpressionValue = null;
    for (const compute of parts) value = compute(run);
    return value;
  };
}

function compileConditional(
  { test, whenTrue, whenFalse }: NodeOf<'conditional'>,
  compile: CompilePart,
): Computation {
  const computeTest = compile(test);
  const computeTrue = compile(whenTrue);
  const computeFalse = compile(whenFalse);
  return (run) => (needBoolean(computeTest(run)) ? computeTrue(run) : computeFalse(run));
}

function compileList(items: readonly Computation[]): Computation {
  return (run) => {
    run.context.budget.takeElements(items.length);
    return new GoSlice(items.map((compute) => compute(run)));
  };
}

/** Of two entries with the same key the first one stays. */
function compileMap({ pairs }: NodeOf<'map'>, compile: CompilePart): Computation {
  const entries = pairs.map(({ key, value }) => [compile(key), compile(value)] as const);
  return (run) => {
    const { budget } = run.context;
    budget.takeElements(entries.length);
    const map = new GoMap();
    for (const [computeKey, computeValue] of entries) {
      const key = needText(computeKey(run));
      const value = computeValue(run);
      const identity = toIdentity(key, budget);
      if (map.get(identity) === undefined) map.set(identity, key, value);
    }
    return map;
  };
}
