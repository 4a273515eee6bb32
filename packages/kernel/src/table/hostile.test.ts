/**
 * Whatever arrives, a reader answers, drops or asks; it never throws, and never writes outside its packet.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TableReader } from './reader.ts';
import { addressNode, cachedAddress, node, query, settings } from './testing/table-answers.ts';
import { TableWriter } from './writer.ts';

const table = new TableWriter({ readers: 1, reservation: 64 * 2 ** 20 });
const zone = table.defineZone(settings('cluster.local'));
const reader = new TableReader(table.memory, 0);
table.put(node('cluster.local', zone));
table.put(node('pod.cluster.local', zone, { below: { kind: 'ask', labels: 0 } }));
table.put(addressNode('cart.cluster.local', zone, ['10.0.0.1', '10.0.0.2', '10.0.0.3']));
table.cache(cachedAddress('www.example.com', '192.0.2.1', 60), 0);

const START = 32;
const CAPACITY = 1280;
const POISON = 0xa5;

/** Answers the bytes inside a larger buffer of poison; returns the verdict and whether the poison is intact. */
function answerAmidPoison(bytes: Uint8Array): { verdict: number; untouched: boolean } {
  const around = new Uint8Array(START + CAPACITY + 64).fill(POISON);
  around.set(bytes, START);
  const verdict = reader.answer(around, START, bytes.length, CAPACITY, 'udp');
  const before = around.subarray(0, START);
  const behind = around.subarray(START + Math.max(bytes.length, verdict, 0));
  return { verdict, untouched: [...before, ...behind].every((octet) => octet === POISON) };
}

const bytes = fc.uint8Array({ maxLength: CAPACITY });
const realQuery = fc
  .constantFrom(
    'cart.cluster.local',
    'x.cluster.local',
    '1-2-3-4.ns.pod.cluster.local',
    'www.example.com',
    '.',
  )
  .map((name) => {
    const { packet, length } = query(name, 'A');
    return packet.slice(0, length);
  });
const mutated = fc
  .tuple(realQuery, fc.array(fc.tuple(fc.nat(1000), fc.nat(255)), { maxLength: 6 }), fc.nat(80), bytes)
  .map(([packet, changes, cut, tail]) => {
    const whole = Uint8Array.from([
      ...packet.subarray(0, Math.max(0, packet.length - (cut > 40 ? cut - 40 : 0))),
      ...tail.subarray(0, cut),
    ]);
    for (const [at, value] of changes) if (whole.length > 0) whole[at % whole.length] = value;
    return whole;
  });

describe('hostile packets', () => {
  it.each([
    ['any bytes', bytes],
    ['mutated queries', mutated],
  ])('%s leave everything outside the response alone', (_, arbitrary) => {
    fc.assert(
      fc.property(arbitrary, (packet) => {
        const { verdict, untouched } = answerAmidPoison(packet);
        expect(untouched).toBe(true);
        expect(verdict).toBeGreaterThanOrEqual(-1);
        expect(verdict).toBeLessThanOrEqual(1232);
      }),
      { numRuns: 5000 },
    );
  });

  it('drops responses and what is too short, and keeps the id of all else', () => {
    fc.assert(
      fc.property(bytes, (packet) => {
        const copy = new Uint8Array(CAPACITY);
        copy.set(packet);
        const size = reader.answer(copy, 0, packet.length, CAPACITY, 'udp');
        if (packet.length < 12 || (packet[2] ?? 0) & 0x80) expect(size).toBe(0);
        else expect([copy[0], copy[1]]).toEqual([packet[0], packet[1]]);
      }),
    );
  });
});
