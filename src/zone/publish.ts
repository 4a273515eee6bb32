/**
 * Publishes the nodes that belong together, say those of one service, as a difference to what stands of them.
 *
 * Names above come first and go last, so that no reader ever finds a name whose ancestors are missing. Equal nodes are
 * left as they are: the table compares.
 */
import type { Log } from '../ground/log.ts';
import { TableFullError } from '../table/arena.ts';
import type { NameNode, ZoneId } from '../table/types.ts';
import type { NodeRef, TableWriter } from '../table/writer.ts';
import { typeName } from '../wire/mnemonics.ts';
import { encodeName } from '../wire/name.ts';
import type { NameKey, WireName } from '../wire/types.ts';
import { compileNode, typesTooLarge } from './compile.ts';
import { withoutTypes, type ZoneNode } from './node.ts';

/** What of a unit stands in the table: its nodes, those above first. */
export type Standing = readonly NodeRef[];

export const NOTHING: Standing = [];

export class Publisher {
  readonly #table: TableWriter;
  readonly #log: Log;
  readonly #hiddenTypes: ReadonlySet<number>;
  /** Names with more records than a message can carry. */
  readonly #large = new Set<NameKey>();

  /** @param hiddenTypes types of records that are left out, as if their names had none */
  constructor(table: TableWriter, log: Log, hiddenTypes: ReadonlySet<number> = new Set()) {
    this.#table = table;
    this.#log = log;
    this.#hiddenTypes = hiddenTypes;
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
    const after: WireName[] = [];
    const now: NodeRef[] = new Array(nodes.length);
    try {
      for (const [index, node] of nodes.entries()) {
        const compiled = compileNode(withoutTypes(node, this.#hiddenTypes), zone);
        this.#warnOfLarge(node, compiled);
        now[index] = this.#table.put(compiled);
        after.push(compiled.name);
      }
    } catch (error) {
      if (!(error instanceof TableFullError)) throw error;
      this.#log.error('names not published, the answer table is full', {
        first: nodes[0]?.name,
        octets: error.octets,
      });
      return this.#find(zone, [...after, ...before]);
    }
    if (before.length > 0) this.#removeMissing(zone, before, after);
    return now;
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
    const types = typesTooLarge(node, compiled).map(typeName).join(', ');
    if (types === '') this.#large.delete(node.name);
    else if (!this.#large.has(node.name)) {
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

  #removeMissing(zone: ZoneId, before: readonly WireName[], after: readonly WireName[]): void {
    const kept = new Set(after.map(textOf));
    for (const name of before.toReversed()) if (!kept.has(textOf(name))) this.#table.remove(name, zone);
  }

  #find(zone: ZoneId, names: readonly WireName[]): Standing {
    const refs = new Set(names.map((name) => this.#table.find(name, zone)));
    return [...refs].filter((ref) => ref !== undefined);
  }
}

const textOf = (name: WireName): string => Buffer.from(name).toString('latin1');
