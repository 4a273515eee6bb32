/**
 * What stands at one name of a zone, and where nodes come from.
 */
import type { Below } from '../table/types.ts';
import type { AbsoluteName, NameKey } from '../wire/types.ts';
import type { RecordSet } from './record-set.ts';

export interface ZoneNode {
  readonly name: NameKey;
  /** One per type. None at all: an empty non-terminal, which exists because of the names below it (RFC 8020). */
  readonly sets: readonly RecordSet[];
  /** Where questions for some types go on. A CNAME set without it is followed for every type (RFC 1034 section 3.6.2). */
  readonly alias: Alias | undefined;
  /** What a missing name right below means. */
  readonly below: Below;
  /** The counter that a hit adds to, see `AnswerBody`. */
  readonly outcome: number;
  /** Others may have records of further types here: they are asked of the handler chain. */
  readonly isOpen?: true;
}

/** A CNAME that is only followed for some types. */
export interface Alias {
  readonly target: AbsoluteName;
  readonly ttl: number;
  /** The types of question that it is followed for. */
  readonly types: readonly number[];
  /** What to say when the target has no answer: the alias alone, or that there is no data. */
  readonly unanswered: 'alias' | 'nodata';
}

export const COMPLETE: Below = { kind: 'complete' };

/** Nodes by name. */
export interface NameSource {
  /** The node of a name; empty non-terminals too. */
  find(name: NameKey): ZoneNode | undefined;
  /** Whether nodes below the apex may be delegations. If not, they are not looked for. */
  readonly hasCuts: boolean;
  /** Whether names that begin with `*` stand for missing names (RFC 4592). If not, they are not looked for. */
  readonly hasWildcards: boolean;
}

/** The set of this type at a node. */
export function setOf(node: ZoneNode, type: number): RecordSet | undefined {
  return node.sets.find((set) => set.type === type);
}

/** The node without its sets of some types, and without records of these types that would go along with others. */
export function withoutTypes(node: ZoneNode, types: ReadonlySet<number>): ZoneNode {
  if (types.size === 0) return node;
  const sets = node.sets.filter(({ type }) => !types.has(type));
  return { ...node, sets: sets.map((set) => withoutAdditional(set, types)) };
}

function withoutAdditional(set: RecordSet, types: ReadonlySet<number>): RecordSet {
  if (set.additional === 'elsewhere') return set;
  return { ...set, additional: set.additional.filter((named) => !types.has(named.set.type)) };
}

/** Whether every answer of the node is in the node itself; if not, what is missing is asked of the handler chain. */
export function isWhole(node: ZoneNode): boolean {
  return (
    node.isOpen !== true &&
    node.alias === undefined &&
    node.sets.every((set) => set.additional !== 'elsewhere')
  );
}
