import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeSocketAddress, type SocketAddress } from '../../socket/addresses.ts';
import { MAX_HEADER_OCTETS, NO_HEADER, ProxyHeaderReader } from './proxy-header.ts';
import { writeHeader, writeRawHeader } from './testing/write-header.ts';

const IPV4 = { address: '192.0.2.1', port: 56_324 };
const IPV6 = { address: '2001:db8::1', port: 4711 };

/** What a header says, with its length. */
function read(octets: Uint8Array): {
  readonly length: number;
  readonly source: SocketAddress | undefined;
  readonly destination: SocketAddress | undefined;
} {
  const header = new ProxyHeaderReader();
  // Where it begins must not matter.
  const memory = Buffer.concat([Buffer.from('before'), octets, Buffer.from('behind')]);
  const length = header.read(memory, 6, 6 + octets.length);
  const decode = ({ octets: address, length: size }: ProxyHeaderReader['source']) =>
    length > 0 && size > 0 ? decodeSocketAddress(address) : undefined;
  return { length, source: decode(header.source), destination: decode(header.destination) };
}

const QUERY = Buffer.from('12340100000100000000000003777777076578616d706c650000010001', 'hex');

describe('a header of version 2', () => {
  it.each([
    [IPV4, { address: '198.51.100.53', port: 53 }],
    [IPV6, { address: '2001:db8::53', port: 5353 }],
  ])('tells the client and what it has asked: %o', (source, destination) => {
    const header = writeHeader({ source, destination, tlvs: Buffer.from('0400030102', 'hex') });
    expect(read(Buffer.concat([header, QUERY]))).toEqual({ length: header.length, source, destination });
  });

  it('tells an IPv4 address for one that maps it', () => {
    const header = writeHeader({ source: { address: '::ffff:192.0.2.1', port: 9 } });
    expect(read(header).source).toEqual({ address: '192.0.2.1', port: 9 });
  });

  it.each([
    ['of no family', '20000000'],
    ['with octets that say nothing', '200000030a0b0c'],
    ['too short for its family', '20110000'],
    ['with addresses', `2012000c${'c0000201c63364350035dc04'}`],
    ['for a Unix socket', '20310000'],
  ])('of the proxy itself tells no client: %s', (_, hex) => {
    const header = writeRawHeader(hex);
    expect(read(header)).toEqual({ length: header.length, source: undefined, destination: undefined });
  });

  it.each([
    ['another version', '1111000cc0000201c63364350035dc04'],
    ['another command', '2211000cc0000201c63364350035dc04'],
    ['another protocol', '2113000cc0000201c63364350035dc04'],
    ['another family', '2141000cc0000201c63364350035dc04'],
    ['no family, but a client', '21000000'],
    ['fewer octets than its addresses', '2112000bc0000201c63364350035dc'],
    ['fewer octets than addresses of IPv6', '2122000cc0000201c63364350035dc04'],
    ['a Unix socket', `213100d8${'00'.repeat(216)}`],
    ['more octets than allowed', '20001001'],
  ])('is malformed: %s', (_, hex) => {
    expect(read(writeRawHeader(hex)).length).toBe(NO_HEADER.MALFORMED);
  });

  it('is incomplete up to its last octet', () => {
    const header = writeHeader({ source: IPV6, tlvs: Buffer.alloc(7) });
    for (let length = 1; length < header.length; length++)
      expect(read(header.subarray(0, length)).length).toBe(NO_HEADER.INCOMPLETE);
  });

  it('may have 4096 octets behind its fixed part', () => {
    const header = writeHeader({ source: IPV4, tlvs: Buffer.alloc(4096 - 12) });
    expect(read(header).length).toBe(MAX_HEADER_OCTETS);
  });
});

describe('a header of version 1', () => {
  it.each([
    ['PROXY TCP4 192.0.2.1 198.51.100.53 56324 53\r\n', IPV4],
    ['PROXY TCP6 2001:db8::1 2001:db8::53 4711 0\r\n', IPV6],
    ['PROXY TCP6 ::ffff:192.0.2.1 2001:db8::53 56324 53\r\n', IPV4],
    ['PROXY UNKNOWN\r\n', undefined],
    ['PROXY UNKNOWN ffff::1 what ever 65535 65535\r\n', undefined],
  ])('%j', (line, source) => {
    expect(read(Buffer.concat([Buffer.from(line), QUERY]))).toMatchObject({ length: line.length, source });
  });

  it.each([
    'PROXY TCP4 192.0.2.1 198.51.100.53 56324 53\n',
    'PROXY  TCP4 192.0.2.1 198.51.100.53 56324 53\r\n',
    'PROXYx TCP4 192.0.2.1 198.51.100.53 56324 53\r\n',
    'PROXY\r\n',
    'PROXY TCP4\r\n',
    'PROXY UDP4 192.0.2.1 198.51.100.53 56324 53\r\n',
    'PROXY TCP4 192.0.2.1 198.51.100.53 56324\r\n',
    'PROXY TCP4 192.0.2.1 198.51.100.53 56324 53 1\r\n',
    'PROXY TCP4 192.0.2.01 198.51.100.53 56324 53\r\n',
    'PROXY TCP4 2001:db8::1 2001:db8::53 56324 53\r\n',
    'PROXY TCP6 192.0.2.1 198.51.100.53 56324 53\r\n',
    'PROXY TCP6 fe80::1%eth0 2001:db8::53 56324 53\r\n',
    'PROXY TCP4 192.0.2.1 198.51.100.53 056324 53\r\n',
    'PROXY TCP4 192.0.2.1 198.51.100.53 65536 53\r\n',
    'PROXY TCP4 192.0.2.1 198.51.100.53 -1 53\r\n',
    `PROXY UNKNOWN ${'x'.repeat(100)}`,
  ])('is malformed: %j', (line) => {
    expect(read(Buffer.from(line)).length).toBe(NO_HEADER.MALFORMED);
  });

  it('is incomplete up to its last octet', () => {
    const line = Buffer.from('PROXY TCP4 192.0.2.1 198.51.100.53 56324 53\r\n');
    for (let length = 1; length < line.length; length++)
      expect(read(line.subarray(0, length)).length).toBe(NO_HEADER.INCOMPLETE);
  });
});

it('leaves other octets alone', () => {
  for (const octets of [QUERY, Buffer.from('PROOF'), Buffer.of(0x0d, 0x0a, 0x0d, 0x0a, 1), Buffer.alloc(0)])
    expect(read(octets).length).toBe(NO_HEADER.NONE);
});

const port = fc.nat(65_535);
const ipv4 = fc.ipV4().map((address) => ({ address }));
const client = fc.tuple(ipv4, port).map(([{ address }, number]) => ({ address, port: number }));

it('reads back what was written, whatever comes behind it', () => {
  fc.assert(
    fc.property(
      client,
      fc.uint8Array({ maxLength: 300 }),
      fc.uint8Array({ maxLength: 100 }),
      (source, tlvs, query) => {
        const header = writeHeader({ source, tlvs });
        expect(read(Buffer.concat([header, query]))).toMatchObject({ length: header.length, source });
      },
    ),
  );
});

it('never throws, and never tells a client that the octets do not tell', () => {
  const valid = client.map((source) => writeHeader({ source }));
  const change = fc.tuple(fc.nat(80), fc.nat(255));
  fc.assert(
    fc.property(
      fc.oneof(valid, fc.uint8Array({ maxLength: 120 })),
      fc.array(change, { maxLength: 4 }),
      (octets, changes) => {
        const changed = Uint8Array.from(octets);
        for (const [place, value] of changes) if (place < changed.length) changed[place] = value;
        const { length, source } = read(changed);
        expect(length).toBeLessThanOrEqual(changed.length);
        // In a header of 28 octets for IPv4, the client stands at octet 16.
        if (source !== undefined && changed[0] === 0x0d && (changed[13] ?? 0) >> 4 === 1)
          expect(source.address).toBe(changed.subarray(16, 20).join('.'));
      },
    ),
    { numRuns: 2000 },
  );
});
