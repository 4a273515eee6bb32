/**
 * The parts of an expression as data.
 */

/** Where a node is: an offset into the text, in code points. */
interface NodePlace {
  readonly at: number;
}

export type Constant =
  | { readonly kind: 'nil' }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'integer'; readonly value: bigint }
  | { readonly kind: 'float'; readonly value: number }
  /** Octets. */
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'bytes'; readonly value: string };

export type Syntax =
  | Constant
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'unary'; readonly operator: UnaryOperator; readonly operand: SyntaxNode }
  | {
      readonly kind: 'binary';
      readonly operator: BinaryOperator;
      readonly left: SyntaxNode;
      readonly right: SyntaxNode;
    }
  /** `a?.b.c`: nil as soon as an optional member is asked of nil. */
  | { readonly kind: 'chain'; readonly body: SyntaxNode }
  | {
      readonly kind: 'member';
      readonly of: SyntaxNode;
      readonly property: SyntaxNode;
      readonly isOptional: boolean;
      readonly isMethod: boolean;
    }
  | {
      readonly kind: 'slice';
      readonly of: SyntaxNode;
      readonly from: SyntaxNode | undefined;
      readonly to: SyntaxNode | undefined;
    }
  | { readonly kind: 'call'; readonly callee: SyntaxNode; readonly args: readonly SyntaxNode[] }
  | BuiltInCall
  /** What is computed for each element. */
  | { readonly kind: 'predicate'; readonly body: SyntaxNode }
  /** `#`, `#index`, `#acc`. */
  | { readonly kind: 'pointer'; readonly name: string }
  | {
      readonly kind: 'let';
      readonly name: string;
      readonly value: SyntaxNode;
      readonly body: SyntaxNode;
    }
  | { readonly kind: 'sequence'; readonly parts: readonly SyntaxNode[] }
  | {
      readonly kind: 'conditional';
      readonly test: SyntaxNode;
      readonly whenTrue: SyntaxNode;
      readonly whenFalse: SyntaxNode;
    }
  | { readonly kind: 'list'; readonly items: readonly SyntaxNode[] }
  /** A list of integers or strings on the right of `in`; only rewriting makes it. */
  | { readonly kind: 'set'; readonly items: readonly SyntaxNode[] }
  | {
      readonly kind: 'map';
      readonly pairs: readonly { readonly key: SyntaxNode; readonly value: SyntaxNode }[];
    };

export type SyntaxNode = Syntax & NodePlace;

interface BuiltInCall {
  readonly kind: 'builtIn';
  readonly name: string;
  readonly args: readonly SyntaxNode[];
  /** Only rewriting makes these. */
  readonly shortcut?: PredicateShortcut;
}

/** What a function that computes something for each element does less, or more, than it says. */
export interface PredicateShortcut {
  /** Computed for each element that a filter lets through. */
  readonly map?: SyntaxNode;
  /** Counting ends here. */
  readonly threshold?: bigint;
  /** Finding nothing is an error. */
  readonly isNeeded?: true;
}

/** A node of one kind. */
export type NodeOf<Kind extends Syntax['kind']> = Extract<Syntax, { kind: Kind }> & NodePlace;

export type UnaryOperator = 'not' | '!' | '-' | '+';

export type BinaryOperator =
  | 'or'
  | '||'
  | 'and'
  | '&&'
  | '=='
  | '!='
  | '<'
  | '>'
  | '>='
  | '<='
  | 'in'
  | 'matches'
  | 'contains'
  | 'startsWith'
  | 'endsWith'
  | '..'
  | '+'
  | '-'
  | '*'
  | '/'
  | '%'
  | '**'
  | '^'
  | '??';

/** The nodes that a node consists of, in the order in which they are evaluated. */
export function listParts(node: SyntaxNode): readonly SyntaxNode[] {
  switch (node.kind) {
    case 'unary':
      return [node.operand];
    case 'binary':
      return [node.left, node.right];
    case 'chain':
    case 'predicate':
      return [node.body];
    case 'member':
      return [node.of, node.property];
    case 'slice':
      return [node.of, node.from, node.to].filter((part) => part !== undefined);
    case 'call':
      return [node.callee, ...node.args];
    case 'builtIn':
      return node.args;
    case 'let':
      return [node.value, node.body];
    case 'sequence':
      return node.parts;
    case 'conditional':
      return [node.test, node.whenTrue, node.whenFalse];
    case 'list':
    case 'set':
      return node.items;
    case 'map':
      return node.pairs.flatMap(({ key, value }) => [key, value]);
    default:
      return [];
  }
}
