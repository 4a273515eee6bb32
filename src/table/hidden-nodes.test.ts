import { describe, expect, it } from 'vitest';
import { addressNode, query, terms, wire } from '../../test/support/table-answers.ts';
import { TableReader } from './reader.ts';
import { TableWriter } from './writer.ts';

function makeTable() {
  const table = new TableWriter({ reservation: 2 ** 26, readers: 1 });
  const reader = new TableReader(table.memory, 0);
  const cluster = table.defineZone(terms('cluster.'));
  const files = table.defineZone(terms('.'), 1);
  /** The address that a reader tells, `none` if there is no name. */
  const tell = (name: string): string => {
    const { packet, length } = query(name, 'A');
    const end = reader.answer(packet, 0, length, packet.length, 1232);
    return end > length ? packet.subarray(end - 4, end).join('.') : 'none';
  };
  return { table, cluster, files, tell };
}

const NAME = 'web.cluster.';

describe('nodes of one name in two zones', () => {
  it('are answered by precedence, whichever comes first', () => {
    const orders: ((one: () => void, other: () => void) => void)[] = [
      (one, other) => [one, other].map((put) => put()),
      (one, other) => [other, one].map((put) => put()),
    ];
    for (const order of orders) {
      const { table, cluster, files, tell } = makeTable();
      order(
        () => table.put(addressNode(NAME, cluster, ['10.0.0.1'])),
        () => table.put(addressNode(NAME, files, ['10.9.9.9'])),
      );
      expect(tell(NAME)).toBe('10.9.9.9');
      expect(table.statistics().nodes).toBe(1);
    }
  });

  it('come back when the other goes, as they are then', () => {
    const { table, cluster, files, tell } = makeTable();
    const first = table.put(addressNode(NAME, cluster, ['10.0.0.1']));
    table.put(addressNode(NAME, files, ['10.9.9.9']));
    expect(table.find(wire(NAME), cluster)).toBe(first);
    expect(table.nameOf(first)).toEqual(wire(NAME));
    const second = table.put(addressNode(NAME, cluster, ['10.0.0.2']));
    expect(table.put(addressNode(NAME, cluster, ['10.0.0.2']))).toBe(second);
    expect(tell(NAME)).toBe('10.9.9.9');
    expect(table.remove(wire(NAME), files)).toBe(true);
    expect(tell(NAME)).toBe('10.0.0.2');
    expect(table.find(wire(NAME), files)).toBeUndefined();
    expect(table.remove(wire(NAME), cluster)).toBe(true);
    expect(table.statistics()).toMatchObject({ nodes: 0, nodeOctets: 0 });
  });

  it('go unseen, and the other stays', () => {
    const { table, cluster, files, tell } = makeTable();
    table.put(addressNode(NAME, files, ['10.9.9.9']));
    table.put(addressNode(NAME, cluster, ['10.0.0.1']));
    expect(table.remove(wire(NAME), cluster)).toBe(true);
    expect(table.remove(wire(NAME), cluster)).toBe(false);
    expect(tell(NAME)).toBe('10.9.9.9');
    table.remove(wire(NAME), files);
    expect(table.find(wire(NAME))).toBeUndefined();
    expect(table.statistics()).toMatchObject({ nodes: 0, nodeOctets: 0 });
  });
});
