/**
 * Publishes a unit of nodes that belong together, such as those of one service, as a difference to its published nodes.
 *
 * Ancestors are put first and removed last, so that readers never find a name whose ancestors are missing. Equal nodes
 * stay as they are: the table compares.
 */
import { typeName } from '@portolan/dns/mnemonics.ts';
import { encodeName } from '@portolan/dns/name.ts';
import type { NameKey, WireName } from '@portolan/dns/types.ts';
import type { Log } from '../base/log.ts';
import { TableFullError } from '../table/arena.ts';
import type { NameNode, ZoneId } from '../table/types.ts';
import type { NodeRef, TableWriter } from '../table/writer.ts';
import { compileNode, typesTooLarge } from './compile.ts';
import { withoutTypes, type ZoneNode } from './node.ts';

/** The published nodes of a unit, ancestors first. */
export type Standing = readonly NodeRef[];

export const NOTHING: Standing = [];

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
    const before = standing.length === 0 ? [] : this.#listNames(standing);
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

  #listNames(standing: Standing): WireName[] {
    return standing.map((ref) => this.#table.readNodeName(ref));
  }

  #removeMissing(zone: ZoneId, before: readonly WireName[], after: readonly ZoneNode[]): void {
    const kept = new Set(after.map(({ name }) => decodeLatin1(encodeName(name))));
    for (const name of before.toReversed()) if (!kept.has(decodeLatin1(name))) this.#table.remove(name, zone);
  }

  #find(zone: ZoneId, names: readonly WireName[]): Standing {
    const refs = new Set(names.map((name) => this.#table.find(name, zone)));
    return [...refs].filter((ref) => ref !== undefined);
  }
}

const decodeLatin1 = (name: WireName): string => Buffer.from(name).toString('latin1');
