import fc from 'fast-check';
import { expect, it } from 'vitest';
import { encodeGrpcFrame, FrameError, GrpcFrameReader } from './grpc-frames.ts';

it('gives back every message, wherever the stream is cut', () => {
  const messages = fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 6 });
  fc.assert(
    fc.property(messages, fc.array(fc.nat({ max: 9 })), (sent, cuts) => {
      const stream = Buffer.concat(sent.map(encodeGrpcFrame));
      const reader = new GrpcFrameReader(100);
      const received: Buffer[] = [];
      let at = 0;
      for (const length of [...cuts, stream.length]) {
        reader.push(stream.subarray(at, at + length), (message) => received.push(Buffer.from(message)));
        at += length;
      }
      expect(received).toEqual(sent.map((message) => Buffer.from(message)));
      expect(reader.isInside).toBe(false);
    }),
  );
});

it('keeps nothing that came with a message', () => {
  const received = Buffer.alloc(2 ** 16);
  encodeGrpcFrame(Buffer.from('abc')).copy(received);
  const reader = new GrpcFrameReader(100);
  const kept: number[] = [];
  const take = ({ buffer }: Buffer) => void kept.push(buffer.byteLength);
  for (let at = 0; at < 8; at += 1) reader.push(received.subarray(at, at + 1), take);
  reader.push(received.subarray(0, 8), take);
  expect(kept.length).toBe(2);
  for (const octets of kept) expect(octets).toBeLessThanOrEqual(16);
});

it('knows that a frame is not complete', () => {
  const reader = new GrpcFrameReader(100);
  reader.push(encodeGrpcFrame(Buffer.from('abc')).subarray(0, 7), () => {});
  expect(reader.isInside).toBe(true);
});

it('refuses large messages before they are held, and compressed ones', () => {
  const take = () => {};
  expect(() =>
    new GrpcFrameReader(3).push(encodeGrpcFrame(Buffer.from('abcd')).subarray(0, 5), take),
  ).toThrow(new FrameError('a message larger than max: 4 octets', true));
  const compressed = encodeGrpcFrame(Buffer.from('a'));
  compressed[0] = 1;
  expect(() => new GrpcFrameReader(3).push(compressed, take)).toThrow('compression');
});
