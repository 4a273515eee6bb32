import { HEADER_OCTETS } from '@portolan/dns/header.ts';
import { isWithin, toKey } from '@portolan/dns/name.ts';
import { readName } from '@portolan/dns/name-wire.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ReplyNames } from './reply-names.ts';

/** Octets that are likely to be names: short labels, and pointers to earlier ones. */
const label = fc.stringMatching(/^[aAb]{1,2}$/).map((text) => [text.length, ...Buffer.from(text)]);
const piece = fc.oneof(
  { weight: 6, arbitrary: label },
  { weight: 4, arbitrary: fc.constant([0]) },
  { weight: 4, arbitrary: fc.constantFrom(0, 12, 14, 16, 17, 19, 21).map((target) => [0xc0, target]) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 2 }).map((octets) => [...octets]) },
);
/** The name of two labels begins right after the header. */
const HEADER = [...new Uint8Array(HEADER_OCTETS)];
const message = fc
  .array(piece, { maxLength: 30 })
  .map((pieces) => Uint8Array.from([...HEADER, 1, 97, 1, 98, 0, ...pieces.flat()]));

describe('the names of a reply', () => {
  it('are those that a decoder reads, compared as it compares them', () => {
    let compared = 0;
    const names = new ReplyNames();
    fc.assert(
      fc.property(message, fc.nat(3), (octets, start) => {
        names.begin(Uint8Array.of(...new Uint8Array(start), ...octets, 0, 0), start, octets.length);
        const read: { readonly at: number; readonly key: ReturnType<typeof toKey> }[] = [];
        for (let at = HEADER_OCTETS; at < octets.length; ) {
          const next = names.read(at);
          if (next < 0 || next > octets.length) break;
          const decoded = readName(octets, at);
          expect(next).toBe(decoded.next);
          read.push({ at: names.name, key: toKey(decoded.name) });
          at = next;
        }
        for (const one of read) {
          for (const other of read) {
            compared += 1;
            expect(names.isSame(one.at, other.at)).toBe(one.key === other.key);
            expect(names.isWithin(one.at, other.at)).toBe(isWithin(one.key, other.key));
          }
        }
      }),
      { numRuns: 2000 },
    );
    expect(compared).toBeGreaterThan(500);
  });

  it('are not read where a pointer leads into something else', () => {
    const names = new ReplyNames();
    // A name, two octets that look like one, and pointers: to its second label, to the two octets, to itself.
    const octets = Uint8Array.of(1, 97, 1, 98, 0, 1, 99, 0xc0, 2, 0xc0, 5, 0xc0, 11);
    names.begin(octets, 0, octets.length);
    expect([names.read(0), names.read(7), names.name]).toEqual([5, 9, 2]);
    expect([names.read(9), names.read(11)]).toEqual([-1, -1]);
    names.begin(octets, 0, octets.length);
    expect(names.read(7)).toBe(-1);
  });

  it('have at most 255 octets', () => {
    const label = [63, ...new Uint8Array(63).fill(97)];
    const most = Uint8Array.from([
      ...label,
      ...label,
      ...label,
      61,
      ...new Uint8Array(61).fill(97),
      0,
      1,
      97,
      0xc0,
      0,
    ]);
    const names = new ReplyNames();
    names.begin(most, 0, most.length);
    expect([names.read(0), names.read(255)]).toEqual([255, -1]);
  });
});
