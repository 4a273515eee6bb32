import { parseName, toKey } from '@portolan/dns/name.ts';
import { decodeName } from '@portolan/dns/name-wire.ts';
import { TYPE, type WireName } from '@portolan/dns/types.ts';
import { describe, expect, it } from 'vitest';
import { RecordingLog } from '../base/testing/recording-log.ts';
import { TableFullError } from '../table/arena.ts';
import type { NameNode, ZoneId } from '../table/types.ts';
import type { NodeRef, TableWriter } from '../table/writer.ts';
import { COMPLETE, type ZoneNode } from './node.ts';
import { NOTHING, Publisher } from './publish.ts';
import { recordSet } from './record-set.ts';

const ZONE = 1 as ZoneId;

/** A table that records its calls. */
class RecordingTable implements Pick<TableWriter, 'put' | 'remove' | 'find' | 'readNodeName'> {
  readonly done: string[] = [];
  /** Nodes by their references, which are consecutive numbers. */
  readonly #nodes: (NameNode | undefined)[] = [];
  room = Number.POSITIVE_INFINITY;

  put(node: NameNode): NodeRef {
    if (this.#nodes.length >= this.room) throw new TableFullError(64);
    const before = this.find(node.name);
    if (before !== undefined) this.#nodes[before] = undefined;
    this.done.push(`${before === undefined ? 'add' : 'replace'} ${decodeName(node.name)}`);
    // Copies, as the table does: the compiler reuses its octets.
    return (this.#nodes.push({ ...node, name: node.name.slice() as WireName }) - 1) as NodeRef;
  }

  remove(name: WireName): boolean {
    const ref = this.find(name);
    if (ref === undefined) return false;
    this.#nodes[ref] = undefined;
    this.done.push(`remove ${decodeName(name)}`);
    return true;
  }

  find(name: WireName): NodeRef | undefined {
    const index = this.#nodes.findIndex(
      (node) => node !== undefined && decodeName(node.name) === decodeName(name),
    );
    return index < 0 ? undefined : (index as NodeRef);
  }

  readNodeName(ref: NodeRef): WireName {
    const node = this.#nodes[ref];
    if (node === undefined) throw new Error(`a reference to nothing: ${ref}`);
    return node.name;
  }
}

function node(name: string, address?: string): ZoneNode {
  const sets = address === undefined ? [] : [recordSet(TYPE.A, 30, [{ kind: 'A', address }])];
  return { name: toKey(parseName(name)), sets, alias: undefined, below: COMPLETE, outcome: 0 };
}

function makePublisher() {
  const table = new RecordingTable();
  const log = new RecordingLog();
  // All methods of a table that a publisher uses.
  return { table, log, publisher: new Publisher(table as unknown as TableWriter, log) };
}

describe('a publisher', () => {
  it('publishes names above before those below, and removes them after', () => {
    const { table, publisher } = makePublisher();
    const standing = publisher.replace(NOTHING, ZONE, [node('b.'), node('a.b.', '192.0.2.1')]);
    publisher.replace(standing, ZONE, []);
    expect(table.done).toEqual(['add b.', 'add a.b.', 'remove a.b.', 'remove b.']);
  });

  it('removes what is no more, once the rest stands', () => {
    const { table, publisher } = makePublisher();
    const standing = publisher.replace(NOTHING, ZONE, [node('b.'), node('a.b.', '192.0.2.1')]);
    table.done.length = 0;
    const now = publisher.replace(standing, ZONE, [node('b.', '192.0.2.2'), node('c.b.', '192.0.2.1')]);
    expect(table.done).toEqual(['replace b.', 'add c.b.', 'remove a.b.']);
    expect(now).toHaveLength(2);
  });

  it('leaves standing what stands when the table is full, and says so', () => {
    const { table, log, publisher } = makePublisher();
    const standing = publisher.replace(NOTHING, ZONE, [node('b.'), node('a.b.', '192.0.2.1')]);
    table.room = 3;
    const now = publisher.replace(standing, ZONE, [node('b.', '192.0.2.2'), node('c.b.', '192.0.2.1')]);
    expect(log.records.map(({ level }) => level)).toEqual(['error']);
    table.done.length = 0;
    publisher.replace(now, ZONE, []);
    expect(table.done.toSorted()).toEqual(['remove a.b.', 'remove b.']);
  });

  it('warns once of a name with more addresses than a message can carry, and lets the table have them all', () => {
    const { publisher, table, log } = makePublisher();
    const data = Array.from(
      { length: 5000 },
      (_, index) => ({ kind: 'A', address: `10.0.${index >> 8}.${index & 255}` }) as const,
    );
    const large = { ...node('many.test.'), sets: [recordSet(TYPE.A, 30, data)] };
    publisher.replace(NOTHING, ZONE, [large]);
    publisher.replace(NOTHING, ZONE, [large]);
    expect(log.records.filter((record) => record.level === 'warn')).toHaveLength(1);
    expect(JSON.stringify(log.records)).toContain('many.test.');
    expect(table.done).toHaveLength(2);
    publisher.replace(NOTHING, ZONE, [node('many.test.', '10.0.0.1')]);
    publisher.replace(NOTHING, ZONE, [large]);
    expect(log.records.filter((record) => record.level === 'warn')).toHaveLength(2);
  });
});
