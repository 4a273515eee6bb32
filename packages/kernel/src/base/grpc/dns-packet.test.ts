import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decodeDnsPacket, encodeDnsPacket, MAX_PACKET_OCTETS } from './dns-packet.ts';
import { encodeGrpcFrame, GrpcFrameReader } from './grpc-frames.ts';

function unframe(frame: Buffer): Buffer {
  const packets: Buffer[] = [];
  new GrpcFrameReader(MAX_PACKET_OCTETS).push(frame, (packet) => packets.push(packet));
  expect(packets.length).toBe(1);
  return packets[0] ?? Buffer.alloc(0);
}

it.each([0, 1, 127, 128, 16_383, 16_384, 65_535])('takes a message of %i octets', (length) => {
  const message = Buffer.alloc(length, 7);
  expect(decodeDnsPacket(unframe(encodeDnsPacket(message))).equals(message)).toBe(true);
});

it('writes octets as Protocol Buffers do', () => {
  expect(encodeDnsPacket(Buffer.from('abc')).toString('hex')).toBe('00000000050a03616263');
  expect(encodeDnsPacket(Buffer.alloc(300)).subarray(0, 8).toString('hex')).toBe('000000012f0aac02');
});

/** A field that is not that of the message. */
const otherField = fc.oneof(
  fc.constant(Buffer.from('1005', 'hex')),
  fc.constant(Buffer.from('1900000000000000aa', 'hex')),
  fc.constant(Buffer.from('1203010203', 'hex')),
  fc.constant(Buffer.from('1d01020304', 'hex')),
  // Field 1 with a number in it.
  fc.constant(Buffer.from('0807', 'hex')),
);

it('finds the last message between other fields', () => {
  const fields = fc.array(otherField, { maxLength: 4 });
  const octets = fc.uint8Array({ maxLength: 300 });
  fc.assert(
    fc.property(fields, octets, octets, fields, (before, first, last, after) => {
      const messages = [first, last].map((message) => unframe(encodeDnsPacket(message)));
      expect(decodeDnsPacket(Buffer.concat([...before, ...messages, ...after]))).toEqual(Buffer.from(last));
    }),
  );
});

it('gives a part of any octets, or refuses them', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (octets) => {
      try {
        expect(decodeDnsPacket(Buffer.from(octets)).length).toBeLessThanOrEqual(octets.length);
      } catch (error) {
        expect(error).toMatchObject({ name: 'ProtobufError' });
      }
    }),
  );
});

it.each([
  ['0a03ab', 'a field is cut off'],
  ['0a', 'a number is cut off'],
  ['0200', 'a field without a number'],
  ['0b', 'wire type 3'],
  ['ffffffffffffffffffff01', 'more than 10 octets'],
])('refuses %s', (hex, fault) => {
  expect(() => decodeDnsPacket(Buffer.from(hex, 'hex'))).toThrow(fault);
  expect(unframe(encodeGrpcFrame(Buffer.from(hex, 'hex'))).toString('hex')).toBe(hex);
});
