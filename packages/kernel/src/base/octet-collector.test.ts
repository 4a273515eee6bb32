import fc from 'fast-check';
import { expect, it } from 'vitest';
import { OctetCollector } from './octet-collector.ts';

/** Octets in the middle of all that was received. */
function receive(octets: Uint8Array): Uint8Array {
  const received = new Uint8Array(2 ** 16);
  received.set(octets, 100);
  return received.subarray(100, 100 + octets.length);
}

it('returns the added octets, in at most twice as much memory', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 30 })), (pieces) => {
      const collector = new OctetCollector();
      for (const piece of pieces) collector.add(receive(piece));
      const { octets, length } = collector;
      expect(octets.equals(Buffer.concat(pieces))).toBe(true);
      expect(length).toBe(octets.length);
      expect(octets.buffer.byteLength).toBeLessThanOrEqual(2 * length);
    }),
  );
});
