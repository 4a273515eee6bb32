import { formatAddress } from '@portolan/dns/address.ts';
import { keyOfWire } from '@portolan/dns/name-wire.ts';
import type { HostsVisitor } from '@portolan/sources/hosts/hosts-manner.ts';
import { HostsReader } from '@portolan/sources/hosts/hosts-reader.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DNSMASQ_HOSTS } from './hosts-manner.ts';

/** Records each call of the visitor as one line of text. */
function recorder(): { readonly seen: string[]; readonly visitor: HostsVisitor } {
  const seen: string[] = [];
  const visitor: HostsVisitor = {
    host: (address, name, isPlain) =>
      seen.push(`${formatAddress(address)} ${keyOfWire(name)}${isPlain ? '(plain)' : ''}`),
    warning: ({ line, kind, value }) => seen.push(`${line}: ${kind} ${value}`),
    line: (_line, read) => read(),
  };
  return { seen, visitor };
}

function read(text: string | Uint8Array): readonly string[] {
  const { seen, visitor } = recorder();
  const reader = new HostsReader(DNSMASQ_HOSTS, visitor);
  reader.push(Buffer.from(text));
  reader.end();
  return seen;
}

describe('a hosts file', () => {
  it('has an address and names on a line', () => {
    expect(read('127.0.0.1 localhost\n10.0.0.1\tNAS.lan nas nas.\n')).toEqual([
      '127.0.0.1 localhost.(plain)',
      '10.0.0.1 nas.lan.',
      '10.0.0.1 nas.(plain)',
      '10.0.0.1 nas.',
    ]);
  });

  it('has IPv6 addresses, written in any form', () => {
    expect(read('2001:DB8:0:0::1 a')).toEqual(['2001:db8::1 a.(plain)']);
  });

  it('has comments anywhere, even behind half a word', () => {
    expect(read('# all\n10.0.0.1 a#b c\n#\n 10.0.0.2 b # c')).toEqual([
      '10.0.0.1 a.(plain)',
      '10.0.0.2 b.(plain)',
    ]);
  });

  it('may have lines of other systems', () => {
    expect(read('10.0.0.1 a\r\n\r\n10.0.0.2 b\r\n')).toEqual(['10.0.0.1 a.(plain)', '10.0.0.2 b.(plain)']);
  });

  it('reports odd lines and reads the rest', () => {
    expect(read('10.0.0 a\n10.0.0.1\n10.0.0.1 -A a..b c\n\n1.2.3.4 5.6.7.8')).toEqual([
      '1: address 10.0.0',
      '3: name -A',
      '3: unaskable a..b',
      '10.0.0.1 c.(plain)',
      '1.2.3.4 5.6.7.8.',
    ]);
  });

  it('leaves out a line too long to keep', () => {
    const endless = `10.0.0.1 ${'a '.repeat(600_000)}`;
    expect(read(`${endless}\n10.0.0.2 b`)).toEqual([
      `1: overlong ${endless.slice(0, 100)}...`,
      '10.0.0.2 b.(plain)',
    ]);
  });
});

describe('in pieces', () => {
  function readInPieces(bytes: Uint8Array, size: number): readonly string[] {
    const { seen, visitor } = recorder();
    const reader = new HostsReader(DNSMASQ_HOSTS, visitor);
    for (let start = 0; start < bytes.length; start += size) reader.push(bytes.subarray(start, start + size));
    reader.end();
    return seen;
  }

  const likely = fc.constantFrom(...'10.0.0.1 ', 'a', 'b.c', '::1 ', '\n', '#', '\t', '\r\n', 'é', '-A');
  const file = fc.array(likely, { maxLength: 80 }).map((parts) => Buffer.from(parts.join('')));

  it('it reads the same', () => {
    fc.assert(
      fc.property(file, fc.integer({ min: 1, max: 20 }), (bytes, size) => {
        expect(readInPieces(bytes, size)).toEqual(read(bytes));
      }),
    );
  });

  it('it skips an endless line once and goes on behind it', () => {
    const bytes = Buffer.from(`10.0.0.1 ${'a '.repeat(3 << 20)}\n10.0.0.2 b`);
    expect(readInPieces(bytes, 65_536)).toEqual([
      expect.stringMatching(/^1: overlong 10\.0\.0\.1 a a/),
      '10.0.0.2 b.(plain)',
    ]);
  });

  it('it takes any octets', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => void readInPieces(bytes, 7)));
  });
});
