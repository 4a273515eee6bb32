import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FrameParser, frame } from './frames.ts';

/** The messages in a stream that arrives in the given pieces. */
function parse(pieces: readonly Uint8Array[]): Uint8Array[] {
  const parser = new FrameParser();
  const messages: Uint8Array[] = [];
  for (const piece of pieces) {
    parser.push(piece);
    for (let message = parser.next(); message !== undefined; message = parser.next()) {
      messages.push(Uint8Array.from(message));
    }
  }
  return messages;
}

/** Cuts octets at the given places, taken modulo their number. */
function cut(octets: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = places.map((place) => place % (octets.length + 1)).sort((one, other) => one - other);
  return [...ends, octets.length].map((end, index) => octets.subarray(ends[index - 1] ?? 0, end));
}

describe('FrameParser', () => {
  it('gives the same messages however the stream is cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 700 }), { maxLength: 20 }),
        fc.array(fc.nat(), { maxLength: 30 }),
        (messages, places) => {
          const stream = Uint8Array.from(messages.flatMap((message) => [...frame(message)]));
          expect(parse(cut(stream, places))).toEqual(messages);
        },
      ),
    );
  });

  it('gives the same messages whether pieces wait for each other or not', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 700 }), { maxLength: 20 }),
        fc.array(fc.nat(), { maxLength: 30 }),
        fc.array(fc.nat({ max: 4 }), { minLength: 1, maxLength: 30 }),
        (messages, places, takes) => {
          const stream = Uint8Array.from(messages.flatMap((message) => [...frame(message)]));
          const parser = new FrameParser();
          const taken: Uint8Array[] = [];
          const take = (count: number) => {
            for (let left = count; left > 0; left--) {
              const message = parser.next();
              if (message === undefined) return;
              taken.push(Uint8Array.from(message));
            }
          };
          cut(stream, places).forEach((piece, index) => {
            parser.push(piece);
            take(takes[index % takes.length] ?? 0);
          });
          take(Number.POSITIVE_INFINITY);
          expect(taken).toEqual(messages);
          expect([parser.held, parser.waiting]).toEqual([0, 0]);
        },
      ),
    );
  });

  it('takes the largest message octet by octet', () => {
    const message = Uint8Array.from({ length: 65_535 }, (_, index) => index & 0xff);
    const octets = Array.from(frame(message), (octet) => Uint8Array.of(octet));
    expect(parse(octets)).toEqual([message]);
  });

  it('waits for what was announced', () => {
    expect(parse([Uint8Array.of(0), Uint8Array.of(3, 1, 2)])).toEqual([]);
    expect(parse([Uint8Array.of(0), Uint8Array.of(3, 1, 2), Uint8Array.of(3, 0, 0)])).toEqual([
      Uint8Array.of(1, 2, 3),
      Uint8Array.of(),
    ]);
  });
});
