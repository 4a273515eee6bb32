/**
 * Publishes the nodes that belong together, say those of one service, as a difference to what stands of them.
 *
 * Names above come first and go last, so that no reader ever finds a name whose ancestors are missing. Equal nodes are
 * left as they are: the table compares.
 */
import type { Log } from '../base/log.ts';
import { inSteps, PIECES_PER_STEP, type Steps } from '../base/steps.ts';
import { TableFullError } from '../table/arena.ts';
import type { NameNode, ZoneId } from '../table/types.ts';
import type { NodeRef, TableWriter } from '../table/writer.ts';
import { typeName } from '../wire/mnemonics.ts';
import { encodeName } from '../wire/name.ts';
import type { NameKey, WireName } from '../wire/types.ts';
import { compileInSteps, compileNode, typesTooLarge } from './compile.ts';
import { withoutTypes, type ZoneNode } from './node.ts';

/** What of a unit stands in the table: its nodes, those above first. */
export type Standing = readonly NodeRef[];

export const NOTHING: Standing = [];

/** The nodes that stand, by name, for units with so many that only what is different is looked at. */
export type StandingNodes = ReadonlyMap<NameKey, StandingNode>;

interface StandingNode {
  /** What it was compiled from; undefined where that is not kept. */
  readonly node: ZoneNode | undefined;
  readonly ref: NodeRef;
}

/** What `Publisher.replaceInSteps` leaves. */
export interface ReplacedNodes {
  readonly nodes: StandingNodes;
  /** Whether these are the nodes that were given; not so when the table is full. */
  readonly isWhole: boolean;
}

/** How many nodes are compiled in a step. */
const NODES_PER_STEP = 50;
/** A node with more records is compiled in steps. */
const RECORDS_PER_STEP = 200;

export class Publisher {
  readonly #table: TableWriter;
  readonly #log: Log;
  readonly #filteredTypes: ReadonlySet<number>;
  /** Names with more records than a message can carry. */
  readonly #large = new Set<NameKey>();

  /** @param filteredTypes types of records that are left out, as if their names had none */
  constructor(table: TableWriter, log: Log, filteredTypes: ReadonlySet<number> = new Set()) {
    this.#table = table;
    this.#log = log;
    this.#filteredTypes = filteredTypes;
  }

  /**
   * When the table is full, what stands is left standing, and the log says so.
   *
   * @param standing what the last call for this unit returned, or `NOTHING`
   * @param nodes all nodes of the unit, each name once, those above before those below
   * @returns what stands now
   */
  replace(standing: Standing, zone: ZoneId, nodes: readonly ZoneNode[]): Standing {
    if (nodes.length === 0 && standing.length === 0) return NOTHING;
    // Their names must be read before they are replaced: a reference is good as long as its node stands.
    const before = standing.length === 0 ? [] : this.#namesOf(standing);
    const now: NodeRef[] = new Array(nodes.length);
    try {
      for (const [index, node] of nodes.entries()) {
        const compiled = compileNode(withoutTypes(node, this.#filteredTypes), zone);
        this.#warnOfLarge(node, compiled);
        now[index] = this.#table.put(compiled);
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

  /**
   * As `replace`, in steps, for a unit with many nodes. A node that is the same value as before is not compiled again.
   *
   * @param standing what stands of the unit, however it was published
   * @param kept what the last call of this method returned; an empty map after `replace`
   */
  *replaceInSteps(
    standing: Standing,
    kept: StandingNodes,
    zone: ZoneId,
    nodes: readonly ZoneNode[],
  ): Steps<ReplacedNodes> {
    const now = new Map<NameKey, StandingNode>();
    const before = kept.size > 0 ? kept : this.#nodesOf(standing);
    let work = 0;
    for (const node of nodes) {
      const known = before.get(node.name);
      const isSame = known?.node === node;
      const ref = isSame ? known.ref : yield* this.#tryPut(zone, node);
      if (ref === undefined) return { nodes: new Map([...before, ...now]), isWhole: false };
      now.set(node.name, isSame ? known : { node, ref });
      work += isSame ? 1 / PIECES_PER_STEP : 1 / NODES_PER_STEP;
      if (work < 1) continue;
      work = 0;
      yield;
    }
    const missing: NameKey[] = [];
    yield* inSteps([...before.keys()], (name) => {
      if (!now.has(name)) missing.push(name);
    });
    for (const [index, name] of missing.reverse().entries()) {
      this.#table.remove(encodeName(name), zone);
      if (index % NODES_PER_STEP === NODES_PER_STEP - 1) yield;
    }
    return { nodes: now, isWhole: true };
  }

  /** @returns undefined when the table is full, which is logged */
  *#tryPut(zone: ZoneId, node: ZoneNode): Steps<NodeRef | undefined> {
    try {
      const shown = withoutTypes(node, this.#filteredTypes);
      const isLarge = countRecords(node) > RECORDS_PER_STEP;
      const compiled = isLarge ? yield* compileInSteps(shown, zone) : compileNode(shown, zone);
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

  /** Told once for a name, and again if it was smaller meanwhile. */
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

  #nodesOf(standing: Standing): StandingNodes {
    return new Map(standing.map((ref) => [keyOf(this.#table.nameOf(ref)), { node: undefined, ref }]));
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

/** The key of a name of plain labels, which those of a cluster are. */
function keyOf(name: WireName): NameKey {
  let text = '';
  for (let start = 0; name[start] !== 0 && start < name.length; ) {
    const end = start + 1 + (name[start] ?? 0);
    text += `${Buffer.from(name.subarray(start + 1, end)).toString('latin1')}.`;
    start = end;
  }
  // Labels as they stand in a key, each with its dot.
  return text as NameKey;
}

function countRecords({ sets }: ZoneNode): number {
  return sets.reduce((count, { data }) => count + data.length, 0);
}

const textOf = (name: WireName): string => Buffer.from(name).toString('latin1');
