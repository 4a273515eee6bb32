import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readFrame, TCP_ACK, TCP_SYN, tcpFrame, udpFrame } from './probe-frames.ts';

const HARDWARE = { from: Uint8Array.of(2, 0, 0, 0, 0, 1), to: Uint8Array.of(2, 0, 0, 0, 0, 2) };
const IPV4 = { source: '198.18.3.4', destination: '169.254.20.10' } as const;
const IPV6 = { source: 'fd00::1', destination: 'fd00:10:96::a' } as const;
const port = fc.integer({ min: 1, max: 65_535 });
const ends = fc
  .tuple(fc.constantFrom(IPV4, IPV6), port, port)
  .map(([addresses, sourcePort, destinationPort]) => ({
    ...HARDWARE,
    ...addresses,
    sourcePort,
    destinationPort,
  }));

/** The sum of RFC 1071 over octets with their checksum is all ones. */
function sumOctets(...parts: readonly Uint8Array[]): number {
  let sum = 0;
  for (const part of parts)
    for (const [at, octet] of part.entries()) sum += at % 2 === 0 ? octet << 8 : octet;
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return sum;
}

/** The pseudo header and the segment of a frame. */
function listSummedParts(frame: Uint8Array): readonly Uint8Array[] {
  const isIpv4 = frame[12] === 0x08;
  const [addresses, header, protocol] = isIpv4 ? [26, 34, frame[23]] : [22, 54, frame[20]];
  const segment = frame.subarray(header);
  const pseudo = Uint8Array.of(0, protocol ?? 0, segment.length >> 8, segment.length & 0xff);
  return [frame.subarray(addresses, addresses + (isIpv4 ? 8 : 32)), pseudo, segment];
}

describe('frames of probes', () => {
  it('carry a datagram with the right checksums, and are read back', () => {
    fc.assert(
      fc.property(ends, fc.uint8Array({ maxLength: 40 }), (from, payload) => {
        const frame = udpFrame(from, payload);
        expect(sumOctets(...listSummedParts(frame))).toBe(0xffff);
        if (frame[12] === 0x08) expect(sumOctets(frame.subarray(14, 34))).toBe(0xffff);
        const { source, destination, sourcePort, destinationPort } = from;
        const read = { protocol: 'udp', source, destination, sourcePort, destinationPort };
        expect(readFrame(frame)).toEqual({ ...read, payload, flags: 0, acknowledged: 0 });
      }),
    );
  });

  it('begin a connection with the right checksums', () => {
    fc.assert(
      fc.property(ends, fc.nat(0xffff), (from, sequence) => {
        const frame = tcpFrame(from, TCP_SYN, sequence);
        expect(sumOctets(...listSummedParts(frame))).toBe(0xffff);
        expect(readFrame(frame)).toMatchObject({ protocol: 'tcp', flags: TCP_SYN, acknowledged: 0 });
      }),
    );
  });

  it('have the fields of the protocols, octet by octet', () => {
    const frame = udpFrame(
      { ...HARDWARE, ...IPV4, sourcePort: 4660, destinationPort: 53 },
      Uint8Array.of(1, 2, 3),
    );
    const ethernet = '020000000002' + '020000000001' + '0800';
    // By hand: 4500 + 001f + 4011 + c612 + 0304 + a9fe + 140a = 20c4e, 0c4e + 2 = 0c50, whose complement is f3af.
    const ip = '4500001f00000000' + '4011f3af' + 'c6120304' + 'a9fe140a';
    expect(Buffer.from(frame).toString('hex').slice(0, 68)).toBe(ethernet + ip);
    expect(Buffer.from(frame.subarray(34)).toString('hex')).toMatch(/^12340035000b....010203$/);
  });

  it('of other packets, and those that are cut, are not read', () => {
    const frame = tcpFrame({ ...HARDWARE, ...IPV6, sourcePort: 1, destinationPort: 2 }, TCP_SYN | TCP_ACK, 7);
    expect(readFrame(frame)?.flags).toBe(TCP_SYN | TCP_ACK);
    for (let length = 0; length < frame.length; length += 1)
      expect(readFrame(frame.subarray(0, length))).toBeUndefined();
    fc.assert(fc.property(fc.uint8Array({ maxLength: 100 }), (octets) => void readFrame(octets)));
  });
});
