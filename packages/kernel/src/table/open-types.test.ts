import { describe, expect, it } from 'vitest';
import { TableReader } from './reader.ts';
import { addressNode, cachedAddress, node, query, settings, wire } from './testing/table-answers.ts';
import { VERDICT } from './types.ts';
import { TableWriter } from './writer.ts';

const NOW = 1_800_000_000_000;

/** A node that leaves all types but A open (with or without an address), and a cached answer for the same name. */
function makeReader(cachesOpenTypes: boolean, hasAddress: boolean): TableReader {
  const table = new TableWriter({ reservation: 2 ** 26, readers: 1 });
  const zone = table.defineZone({ ...settings('.'), cachesOpenTypes });
  const open = {
    ...(hasAddress ? addressNode('web.', zone, ['10.0.0.1']) : node('web.', zone)),
    otherTypes: 'ask',
  } as const;
  table.put(open);
  table.cache({ ...cachedAddress('web.', '192.0.2.9', 60), name: wire('web.') }, NOW);
  const reader = new TableReader(table.memory, 0);
  reader.setTime(NOW);
  return reader;
}

function tell(reader: TableReader): string | number {
  const { packet, length } = query('web.', 'A');
  const end = reader.answer(packet, 0, length, packet.length, 'udp');
  return end === VERDICT.ASK ? end : packet.subarray(end - 4, end).join('.');
}

describe('types that a node leaves open', () => {
  it('are told from the cache where the zone allows it', () => {
    expect(tell(makeReader(true, false))).toBe('192.0.2.9');
  });

  it('are asked of the chain where it does not', () => {
    expect(tell(makeReader(false, false))).toBe(VERDICT.ASK);
  });

  it('are never those that the node has', () => {
    expect(tell(makeReader(true, true))).toBe('10.0.0.1');
  });
});
