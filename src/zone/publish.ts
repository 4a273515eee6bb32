/**
 * Publishes a unit of nodes that belong together, such as those of one service, as a difference to its published nodes.
 *
 * Ancestors are put first and removed last, so that readers never find a name whose ancestors are missing. Equal nodes
 * stay as they are: the table compares.
 */

import { compareLists } from '../base/list-difference.ts';
import type { Log } from '../base/log.ts';
import { inSteps, type Steps } from '../base/steps.ts';
import { TableFullError } from '../table/arena.ts';
import type { NameNode, ZoneId } from '../table/types.ts';
import type { NodeRef, TableWriter } from '../table/writer.ts';
import { typeName } from '../wire/mnemonics.ts';
import { encodeName } from '../wire/name.ts';
import type { NameKey, WireName } from '../wire/types.ts';
import { compileInSteps, compileNode, typesTooLarge } from './compile.ts';
import { LargeBodies } from './large-body.ts';
import { withoutTypes, type ZoneNode } from './node.ts';

/** The published nodes of a unit, ancestors first. */
export type Standing = readonly NodeRef[];

export const NOTHING: Standing = [];

/** Published nodes of a large unit, kept to publish only the difference. */
export interface KeptNodes {
  /** The published nodes. */
  readonly byName: ReadonlyMap<NameKey, StandingNode>;
}

interface StandingNode {
  /** The node that it was compiled from; undefined if not kept. */
  readonly node: ZoneNode | undefined;
  readonly ref: NodeRef;
}

class NodeRecord implements KeptNodes {
  readonly byName = new Map<NameKey, StandingNode>();
  /** The last list of nodes, if exactly these are published. */
  whole: readonly ZoneNode[] | undefined;
}

/** How many nodes to compile per step. */
const NODES_PER_STEP = 50;
/** A node with more records is compiled in steps. */
const RECORDS_PER_STEP = 200;

export class Publisher {
  readonly #table: TableWriter;
  readonly #log: Log;
  readonly #filteredTypes: ReadonlySet<number>;
  /** Names with more records than a message can carry. */
  readonly #large = new Set<NameKey>();

  /** @param filteredTypes types of records to omit, as if names had none */
  constructor(table: TableWriter, log: Log, filteredTypes: ReadonlySet<number> = new Set()) {
    this.#table = table;
    this.#log = log;
    this.#filteredTypes = filteredTypes;
  }

  /**
   * When the table is full, it logs an error and keeps the published nodes.
   *
   * @param standing the result of the last call for this unit, or `NOTHING`
   * @param nodes all nodes of the unit, each name once, ancestors first
   * @returns the published nodes
   */
  replace(standing: Standing, zone: ZoneId, nodes: readonly ZoneNode[]): Standing {
    if (nodes.length === 0 && standing.length === 0) return NOTHING;
    // Read the names before replacing nodes: a reference is only valid while its node is published.
    const before = standing.length === 0 ? [] : this.#namesOf(standing);
    const now: NodeRef[] = new Array(nodes.length);
    try {
      let index = 0;
      for (const node of nodes) {
        const compiled = compileNode(withoutTypes(node, this.#filteredTypes), zone);
        this.#warnOfLarge(node, compiled);
        now[index] = this.#table.put(compiled);
        index += 1;
      }
    } catch (error) {
      if (!(error instanceof TableFullError)) throw error;
      this.#log.error('names not published, the answer table is full', {
        first: nodes[0]?.name,
        octets: error.octets,
      });
      return this.#find(zone, [...nodes.map(({ name }) => encodeName(name)), ...before]);
    }
    if (before.length > 0) this.#removeMissing(zone, before, nodes);
    return now;
  }

  /** The input of `replaceInSteps`: the nodes of a unit, however they were published. */
  keep(standing: Standing): KeptNodes {
    const kept = new NodeRecord();
    for (const ref of standing) kept.byName.set(keyOf(this.#table.nameOf(ref)), { node: undefined, ref });
    return kept;
  }

  /**
   * As `replace`, in steps, for a unit with many nodes. An identical node object is not compiled again.
   *
   * @param kept from `keep`; always holds the published nodes, also between steps
   * @returns whether exactly these nodes are published now; false when the table is full
   */
  *replaceInSteps(kept: KeptNodes, zone: ZoneId, nodes: readonly ZoneNode[]): Steps<boolean> {
    const record = kept as NodeRecord; // Made by `keep`.
    const { byName, whole } = record;
    record.whole = undefined;
    const { removed, added } = yield* compareLists(whole ?? [], nodes);
    const bodies = new LargeBodies();
    let count = 0;
    for (const node of added) {
      if (byName.get(node.name)?.node === node) continue;
      const ref = yield* this.#tryPut(zone, node, bodies);
      if (ref === undefined) return false;
      byName.set(node.name, { node, ref });
      count += 1;
      if (count % NODES_PER_STEP === 0) yield;
    }
    const before = whole === undefined ? [...byName.keys()] : removed.map(({ name }) => name);
    yield* this.#removeUnnamed(byName, zone, before, added);
    record.whole = nodes;
    return true;
  }

  /** Removes the nodes of names that are not in `nodes`. */
  *#removeUnnamed(
    byName: Map<NameKey, StandingNode>,
    zone: ZoneId,
    names: readonly NameKey[],
    nodes: readonly ZoneNode[],
  ): Steps<void> {
    if (names.length === 0) return;
    const present = new Set<NameKey>();
    yield* inSteps(nodes, ({ name }) => present.add(name));
    const missing: NameKey[] = [];
    yield* inSteps(names, (name) => {
      if (!present.has(name)) missing.push(name);
    });
    for (const [index, name] of missing.reverse().entries()) {
      this.#table.remove(encodeName(name), zone);
      byName.delete(name);
      if (index % NODES_PER_STEP === NODES_PER_STEP - 1) yield;
    }
  }

  /** @returns undefined when the table is full, which is logged */
  *#tryPut(zone: ZoneId, node: ZoneNode, bodies: LargeBodies): Steps<NodeRef | undefined> {
    try {
      const shown = withoutTypes(node, this.#filteredTypes);
      const isLarge = countRecords(node) > RECORDS_PER_STEP;
      const compiled = isLarge ? yield* compileInSteps(shown, zone, bodies) : compileNode(shown, zone);
      this.#warnOfLarge(node, compiled);
      return this.#table.put(compiled);
    } catch (error) {
      if (!(error instanceof TableFullError)) throw error;
      this.#log.error('names not published, the answer table is full', {
        first: node.name,
        octets: error.octets,
      });
      return undefined;
    }
  }

  /** Publishes a node that is a unit of its own. */
  put(zone: ZoneId, node: ZoneNode): void {
    this.replace(NOTHING, zone, [node]);
  }

  /** Removes a node that is a unit of its own. */
  remove(zone: ZoneId, name: NameKey): void {
    this.#table.remove(encodeName(name), zone);
  }

  /** Warns once for a name, and again if it was smaller meanwhile. */
  #warnOfLarge(node: ZoneNode, compiled: NameNode): void {
    const tooLarge = typesTooLarge(node, compiled);
    if (tooLarge.length === 0) {
      this.#large.delete(node.name);
      return;
    }
    const types = tooLarge.map(typeName).join(', ');
    if (!this.#large.has(node.name)) {
      this.#large.add(node.name);
      this.#log.warn('more records than a message can carry, answers hold a part of them', {
        name: node.name,
        types,
      });
    }
  }

  #namesOf(standing: Standing): WireName[] {
    return standing.map((ref) => this.#table.nameOf(ref));
  }

  #removeMissing(zone: ZoneId, before: readonly WireName[], after: readonly ZoneNode[]): void {
    const kept = new Set(after.map(({ name }) => textOf(encodeName(name))));
    for (const name of before.toReversed()) if (!kept.has(textOf(name))) this.#table.remove(name, zone);
  }

  #find(zone: ZoneId, names: readonly WireName[]): Standing {
    const refs = new Set(names.map((name) => this.#table.find(name, zone)));
    return [...refs].filter((ref) => ref !== undefined);
  }
}

/** The key of a name without escapes, as cluster names are. */
function keyOf(name: WireName): NameKey {
  let text = '';
  for (let start = 0; name[start] !== 0 && start < name.length; ) {
    const end = start + 1 + (name[start] ?? 0);
    text += `${Buffer.from(name.subarray(start + 1, end)).toString('latin1')}.`;
    start = end;
  }
  // Labels in key form, each with its dot.
  return text as NameKey;
}

function countRecords({ sets }: ZoneNode): number {
  return sets.reduce((count, { data }) => count + data.length, 0);
}

const textOf = (name: WireName): string => Buffer.from(name).toString('latin1');
