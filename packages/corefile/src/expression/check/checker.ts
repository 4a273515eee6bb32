/**
 * Checks the types of an expression before it is used: names, operands and arguments. The messages are those of expr-lang 1.17.8.
 */
import { Pattern, PatternError } from '@portolan/kernel/base/pattern.ts';
import { findBuiltIn, isBuiltInName } from '../built-ins/built-ins.ts';
import { findMethod } from '../built-ins/methods.ts';
import { ExpressionError } from '../syntax/expression-error.ts';
import { PREDICATE_FUNCTIONS } from '../syntax/predicate-functions.ts';
import type { NodeOf, SyntaxNode } from '../syntax/syntax-tree.ts';
import { fromOctets, toOctets } from '../text/octets.ts';
import {
  ANY,
  BOOL,
  BYTES,
  declaredType,
  dereference,
  FLOAT,
  type GoType,
  INT,
  isAssignable,
  isInteger,
  isList,
  isUnknown,
  LIST,
  MAP,
  NIL,
  STRING,
  toListType,
  UNKNOWN,
} from '../types/go-type.ts';
import { inferBinary } from './check-binary.ts';
import { inferPredicateCall } from './check-predicate.ts';

/** The types of what an environment has, by name. */
export type EnvironmentTypes = ReadonlyMap<string, GoType>;

/** The types of all nodes that were checked. */
export type NodeTypes = ReadonlyMap<SyntaxNode, GoType>;

/** What a predicate is computed for. */
interface PredicateScope {
  readonly collection: GoType;
  readonly pointers: ReadonlyMap<string, GoType>;
}

/** The name of an environment as a value. */
export const ENVIRONMENT = '$env';

export class Checker {
  readonly types = new Map<SyntaxNode, GoType>();
  readonly #text: string;
  readonly #environment: EnvironmentTypes;
  readonly #variables: { readonly name: string; readonly type: GoType }[] = [];
  readonly #scopes: PredicateScope[] = [];

  constructor(text: string, environment: EnvironmentTypes) {
    this.#text = text;
    this.#environment = environment;
  }

  /**
   * A node is in one scope, so that it has one type: it is inferred once, however many signatures its value is an argument of.
   *
   * @throws ExpressionError
   */
  infer(node: SyntaxNode): GoType {
    const known = this.types.get(node);
    if (known !== undefined) return known;
    const type = this.#infer(node);
    this.types.set(node, type);
    return type;
  }

  fault(node: SyntaxNode, fault: string): ExpressionError {
    return new ExpressionError(fromOctets(fault), this.#text, node.at);
  }

  /** The type of a predicate's body for the elements of a collection. @throws ExpressionError */
  inferPredicate(
    predicate: SyntaxNode,
    collection: GoType,
    pointers: ReadonlyMap<string, GoType> = new Map(),
  ): GoType {
    this.#scopes.push({ collection, pointers });
    const type = this.infer(predicate);
    this.#scopes.pop();
    return type;
  }

  #infer(node: SyntaxNode): GoType {
    switch (node.kind) {
      case 'nil':
        return NIL;
      case 'boolean':
        return BOOL;
      case 'integer':
        return INT;
      case 'float':
        return FLOAT;
      case 'string':
        return STRING;
      case 'bytes':
        return BYTES;
      case 'name':
        return this.#inferName(node);
      case 'unary':
        return this.#inferUnary(node);
      case 'binary':
        return this.#inferBinary(node);
      case 'chain':
      case 'predicate':
        return this.infer(node.body);
      case 'member':
        return this.#inferMember(node);
      case 'slice':
        return this.#inferSlice(node);
      case 'call':
        return this.#inferCall(node);
      case 'builtIn':
        return this.#inferBuiltIn(node);
      case 'pointer':
        return this.#inferPointer(node);
      case 'let':
        return this.#inferLet(node);
      case 'sequence':
        return node.parts.map((part) => this.infer(part)).at(-1) ?? UNKNOWN;
      case 'conditional':
        return this.#inferConditional(node);
      case 'list':
      case 'set':
        return this.#inferList(node.items);
      case 'map':
        for (const { key, value } of node.pairs) {
          this.infer(key);
          this.infer(value);
        }
        return MAP;
    }
  }

  #inferName(node: NodeOf<'name'>): GoType {
    const variable = this.#variables.findLast(({ name }) => name === node.name);
    if (variable !== undefined) return variable.type;
    if (node.name === ENVIRONMENT) return UNKNOWN;
    const known = this.#environment.get(node.name);
    if (known !== undefined) return known;
    // A built-in function as a value is nil at run time.
    if (node.name !== 'type' && isBuiltInName(node.name))
      return {
        kind: 'func',
        name: findBuiltIn(node.name)?.signatures?.[0]?.name ?? 'func(...interface {}) (interface {}, error)',
      };
    throw this.fault(node, `unknown name ${node.name}`);
  }

  #inferUnary(node: NodeOf<'unary'>): GoType {
    const type = dereference(this.infer(node.operand));
    const isLogical = node.operator === '!' || node.operator === 'not';
    if (isUnknown(type)) return isLogical ? BOOL : UNKNOWN;
    if (isLogical && type.kind === 'bool') return BOOL;
    if (!isLogical && (isInteger(type) || type.name === FLOAT.name)) return type;
    throw this.fault(node, `invalid operation: ${node.operator} (mismatched type ${type.name})`);
  }

  #inferBinary(node: NodeOf<'binary'>): GoType {
    const left = dereference(this.infer(node.left));
    const right = dereference(this.infer(node.right));
    if (node.operator === 'matches' && node.right.kind === 'string')
      this.#checkPattern(node, node.right.value);
    const result = inferBinary(node.operator, left, right);
    if (typeof result === 'string') throw this.fault(node, result);
    return result;
  }

  /** A constant pattern is known now. */
  #checkPattern(node: SyntaxNode, pattern: string): void {
    try {
      new Pattern(fromOctets(pattern));
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      throw this.fault(node, toOctets(error.message));
    }
  }

  #inferMember(node: NodeOf<'member'>): GoType {
    if (node.of.kind === 'name' && node.of.name === ENVIRONMENT) return this.#inferOfEnvironment(node);
    const base = this.infer(node.of);
    const property = this.infer(node.property);
    if (isUnknown(base)) return UNKNOWN;
    const name = node.property.kind === 'string' ? node.property.value : undefined;
    if (name !== undefined) {
      if (base.kind === 'nil') throw this.fault(node, `type nil has no field ${name}`);
      const method = findMethod(base.name, name);
      if (method !== undefined) return method.type;
    }
    if (base.kind === 'map') return this.#inferEntry(node.property, base, property);
    if (isList(base)) {
      if (isInteger(property) || isUnknown(dereference(property))) return base.element ?? UNKNOWN;
      throw this.fault(
        node.property,
        `array elements can only be selected using an integer (got ${property.name})`,
      );
    }
    // Nothing has fields here.
    const of = dereference(base).name;
    if (name === undefined) throw this.fault(node, `type ${of}[${property.name}] is undefined`);
    throw this.fault(node, `type ${of} has no ${node.isMethod ? 'method' : 'field'} ${name}`);
  }

  #inferOfEnvironment(node: NodeOf<'member'>): GoType {
    if (node.property.kind !== 'string') return UNKNOWN;
    const known = this.#environment.get(node.property.value);
    if (known !== undefined) return known;
    if (node.isOptional) return UNKNOWN;
    throw this.fault(node, `unknown name ${node.property.value}`);
  }

  #inferEntry(property: SyntaxNode, map: GoType, given: GoType): GoType {
    const key = map.key ?? UNKNOWN;
    const isKey = isAssignable(given, key) || isUnknown(dereference(given));
    if (!isKey) throw this.fault(property, `cannot use ${given.name} to get an element from ${map.name}`);
    return map.element ?? UNKNOWN;
  }

  #inferSlice(node: NodeOf<'slice'>): GoType {
    const type = this.infer(node.of);
    if (isUnknown(type)) return UNKNOWN;
    if (type.kind !== 'string' && !isList(type)) throw this.fault(node, `cannot slice ${type.name}`);
    for (const bound of [node.from, node.to]) {
      if (bound === undefined) continue;
      const given = dereference(this.infer(bound));
      if (!isInteger(given) && !isUnknown(given))
        throw this.fault(bound, `non-integer slice index ${given.name}`);
    }
    return type;
  }

  #inferCall(node: NodeOf<'call'>): GoType {
    const { callee } = node;
    if (callee.kind === 'name' && callee.name === ENVIRONMENT)
      throw this.fault(node, `${MAP.name} is not callable`);
    const type = this.infer(callee);
    if (isUnknown(type)) return UNKNOWN;
    const name = findCalleeName(callee);
    if (type.kind === 'nil') throw this.fault(node, `${name} is nil; cannot call nil as function`);
    if (type.kind !== 'func') throw this.fault(node, `${type.name} is not callable`);
    const result = this.#checkArguments(name, type, node.args, node);
    if (result instanceof ExpressionError) throw result;
    return result;
  }

  #inferBuiltIn(node: NodeOf<'builtIn'>): GoType {
    if (PREDICATE_FUNCTIONS.has(node.name)) return inferPredicateCall(node, this);
    if (node.name === 'get') return this.#inferGet(node);
    const builtIn = findBuiltIn(node.name);
    if (builtIn === undefined) throw this.fault(node, `unknown builtin ${node.name}`);
    if (builtIn.infer !== undefined) {
      const types = node.args.map((arg) => this.infer(arg));
      const result = builtIn.infer(types.map((type) => (isUnknown(type) ? ANY : type)));
      if (typeof result === 'string') throw this.fault(node, result);
      return declaredType(result);
    }
    let fault = this.fault(node, `no matching overload for ${node.name}`);
    for (const signature of builtIn.signatures ?? []) {
      const result = this.#checkArguments(node.name, signature, node.args, node);
      if (!(result instanceof ExpressionError)) return result;
      fault = result;
    }
    throw fault;
  }

  #inferGet(node: NodeOf<'builtIn'>): GoType {
    const [of, key] = node.args;
    if (of === undefined || key === undefined || node.args.length !== 2)
      throw this.fault(node, `invalid number of arguments (expected 2, got ${node.args.length})`);
    const base = this.infer(of);
    const property = dereference(this.infer(key));
    if (of.kind === 'name' && of.name === ENVIRONMENT)
      return (key.kind === 'string' ? this.#environment.get(key.value) : undefined) ?? UNKNOWN;
    if (isUnknown(base)) return UNKNOWN;
    if (isList(base)) {
      if (isInteger(property) || isUnknown(property)) return base.element ?? UNKNOWN;
      throw this.fault(key, `non-integer slice index ${property.name}`);
    }
    if (base.kind === 'map') return this.#inferEntry(key, base, property);
    throw this.fault(of, `type ${base.name} does not support indexing`);
  }

  /** @returns the result's type, or the fault of this signature: another one may fit */
  #checkArguments(
    name: string,
    { signature }: GoType,
    args: readonly SyntaxNode[],
    node: SyntaxNode,
  ): GoType | ExpressionError {
    const { parameters = [], result = UNKNOWN, resultCount = 1 } = signature ?? {};
    if (resultCount > 2) return this.fault(node, `func ${name} returns more then two values`);
    if (args.length !== parameters.length) {
      for (const arg of args) this.infer(arg);
      const difference = args.length > parameters.length ? 'too many' : 'not enough';
      return this.fault(node, `${difference} arguments to call ${name}`);
    }
    for (const [place, arg] of args.entries()) {
      const wanted = parameters[place] ?? ANY;
      const given = this.infer(arg);
      if (given.kind === 'nil') {
        if (wanted.kind === 'unknown' || wanted.kind === 'pointer') continue;
        return this.fault(arg, `cannot use nil as argument (type ${wanted.name}) to call ${name}`);
      }
      // What an integer is too large for is found at run time.
      if (isInteger(given) && isInteger(wanted)) continue;
      if (!isAssignable(given, wanted) && !isUnknown(given))
        return this.fault(arg, `cannot use ${given.name} as argument (type ${wanted.name}) to call ${name} `);
    }
    return result;
  }

  #inferPointer(node: NodeOf<'pointer'>): GoType {
    const scope = this.#scopes.at(-1);
    if (scope === undefined) throw this.fault(node, 'cannot use pointer accessor outside predicate');
    if (node.name === '') return scope.collection.element ?? UNKNOWN;
    const known = scope.pointers.get(node.name);
    if (known === undefined) throw this.fault(node, `unknown pointer #${node.name}`);
    return known;
  }

  #inferLet(node: NodeOf<'let'>): GoType {
    const { name } = node;
    if (this.#environment.has(name)) throw this.fault(node, `cannot redeclare ${name}`);
    if (isBuiltInName(name)) throw this.fault(node, `cannot redeclare builtin ${name}`);
    if (this.#variables.some((variable) => variable.name === name))
      throw this.fault(node, `cannot redeclare variable ${name}`);
    const type = this.infer(node.value);
    this.#variables.push({ name, type });
    const result = this.infer(node.body);
    this.#variables.pop();
    return result;
  }

  #inferConditional(node: NodeOf<'conditional'>): GoType {
    const test = dereference(this.infer(node.test));
    if (test.kind !== 'bool' && !isUnknown(test))
      throw this.fault(node.test, `non-bool expression (type ${test.name}) used as condition`);
    const whenTrue = this.infer(node.whenTrue);
    const whenFalse = this.infer(node.whenFalse);
    if (whenTrue.kind === 'nil') return whenFalse;
    if (whenFalse.kind === 'nil') return whenTrue;
    if (!isAssignable(whenTrue, whenFalse)) return UNKNOWN;
    if (!isList(whenTrue) || !isList(whenFalse)) return whenTrue;
    const [first = UNKNOWN, second = UNKNOWN] = [whenTrue.element, whenFalse.element];
    return isAssignable(first, second) && isAssignable(second, first) ? whenTrue : LIST;
  }

  #inferList(items: readonly SyntaxNode[]): GoType {
    const types = items.map((item) => this.infer(item));
    const [first] = types;
    const isUniform = first === undefined || types.every((type) => isSameKind(type, first));
    return isUniform ? toListType(types.at(-1) ?? UNKNOWN) : LIST;
  }
}

/** To Go's reflection, nil and what is unknown have no kind, and what is known to be anything has one. */
function isSameKind(left: GoType, right: GoType): boolean {
  const [first, second] = [left, right].map((type) =>
    type.kind === 'nil' || type.name === UNKNOWN.name ? 'none' : type.kind,
  );
  return first === second;
}

function findCalleeName(callee: SyntaxNode): string {
  if (callee.kind === 'name') return callee.name;
  return callee.kind === 'member' && callee.property.kind === 'string' ? callee.property.value : 'function';
}
