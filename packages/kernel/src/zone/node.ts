/**
 * The records at one name of a zone, and the sources of nodes.
 */
import type { AbsoluteName, NameKey } from '@portolan/dns/types.ts';
import type { Below } from '../table/types.ts';
import type { RecordSet } from './record-set.ts';

export interface ZoneNode {
  readonly name: NameKey;
  /** One per type. Empty: an empty non-terminal, which exists because of the names below it (RFC 8020). */
  readonly sets: readonly RecordSet[];
  /** The alias for some types of questions. Without it, a CNAME set applies to every type (RFC 1034 section 3.6.2). */
  readonly alias: Alias | undefined;
  /** How to treat a missing name directly below. */
  readonly below: Below;
  /** The counter that a hit adds to, see `AnswerBody`. */
  readonly outcome: number;
  /** Whether other sources may have records of further types here: the handler chain is asked for them. */
  readonly isOpen?: true;
}

/** A CNAME that applies only to some types. */
export interface Alias {
  readonly target: AbsoluteName;
  readonly ttl: number;
  /** The types of questions that it applies to. */
  readonly types: readonly number[];
  /** The answer when the target has none: the alias only, or NODATA. */
  readonly unanswered: 'alias' | 'nodata';
}

export const COMPLETE: Below = { kind: 'complete' };

/** Nodes by name. */
export interface NameSource {
  /** The node of a name, also for empty non-terminals. */
  find(name: NameKey): ZoneNode | undefined;
}

/** The set of this type at a node. */
export function findRecordSet(node: ZoneNode, type: number): RecordSet | undefined {
  return node.sets.find((set) => set.type === type);
}

/** The node without its sets of some types, and without such records in the additional section of others. */
export function withoutTypes(node: ZoneNode, types: ReadonlySet<number>): ZoneNode {
  if (types.size === 0) return node;
  const sets = node.sets.filter(({ type }) => !types.has(type));
  return { ...node, sets: sets.map((set) => withoutAdditional(set, types)) };
}

function withoutAdditional(set: RecordSet, types: ReadonlySet<number>): RecordSet {
  if (set.additional === 'elsewhere') return set;
  return { ...set, additional: set.additional.filter((named) => !types.has(named.set.type)) };
}

/** Whether the node has all its answers; if not, the handler chain is asked for the rest. */
export function isWhole(node: ZoneNode): boolean {
  return (
    node.isOpen !== true &&
    node.alias === undefined &&
    node.sets.every((set) => set.additional !== 'elsewhere')
  );
}
