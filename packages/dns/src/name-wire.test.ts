import { describe, expect, it } from 'vitest';
import { parseName } from './name.ts';
import { decodeName, encodeName, readName, writeName } from './name-wire.ts';
import { WireError } from './wire-error.ts';

const bytes = (text: string) => Uint8Array.from(Buffer.from(text, 'latin1'));

describe('encodeName', () => {
  it.each([
    ['.', '\x00'],
    ['a.Bc.', '\x01a\x02Bc\x00'],
    ['a\\.b.c.', '\x03a.b\x01c\x00'],
    ['\\000\\\\\\255.', '\x03\x00\\\xff\x00'],
  ])('writes %s', (text, wire) => {
    const name = parseName(text);
    expect(encodeName(name)).toEqual(bytes(wire));
    expect(decodeName(encodeName(name))).toBe(name);
  });

  it('gives out memory of its own', () => {
    const first = encodeName(parseName('a\\.b'));
    encodeName(parseName('c\\.d'));
    expect(first).toEqual(bytes('\x03a.b\x00'));
  });
});

describe('writeName', () => {
  it('writes nothing beyond the end but says where the name would end', () => {
    const into = new Uint8Array(6).fill(0xee);
    expect(writeName(parseName('abc.def.'), into, 2)).toBe(11);
    expect(into).toEqual(bytes('\xee\xee\x03abc'));
  });
});

describe('readName', () => {
  const header = '\xff'.repeat(12);
  const message = bytes(`${header}\x03com\x00\x01a\xc0\x0c\x01B\xc0\x11\xc0\x15`);

  it.each([
    [12, 'com.', 17],
    [17, 'a.com.', 21],
    [21, 'B.a.com.', 25],
    [25, 'B.a.com.', 27],
    [16, '.', 17],
  ])('at octet %i reads %s', (offset, name, next) => {
    expect(readName(message, offset)).toEqual({ name, next });
  });

  it.each([
    ['beyond the end', '', 0, 0],
    ['a label beyond the end', '\x03ab', 0, 0],
    ['a name without a root', '\x01a', 0, 2],
    ['half a pointer', '\x01a\xc0', 0, 2],
    ['a pointer to itself', '\xc0\x00', 0, 0],
    ['a pointer to its own label', '\x01a\xc0\x00', 0, 2],
    ['a pointer forwards', '\xc0\x02\x00', 0, 0],
    ['two pointers in a ring', `${header}\xc0\x0e\xc0\x0c`, 14, 12],
    ['a pointer into the header', `${header}\xc0\x0b`, 12, 12],
    ['a label of kind 01', '\x40a\x00', 0, 0],
    ['a label of kind 10', '\x80a\x00', 0, 0],
    ['256 octets', `${'\x3f'.padEnd(64, 'x').repeat(3)}\x3e${'x'.repeat(62)}\x00`, 0, 0],
  ])('refuses %s', (_, text, offset, where) => {
    const read = () => readName(bytes(text), offset);
    expect(read).toThrow(WireError);
    expect(read).toThrow(expect.objectContaining({ offset: where }));
  });

  it('reads 255 octets', () => {
    const longest = bytes(`${'\x3f'.padEnd(64, 'x').repeat(3)}\x3d${'x'.repeat(61)}\x00`);
    expect(readName(longest, 0).next).toBe(255);
  });

  it('follows 127 pointers and no more', () => {
    const chain = new Uint8Array(13 + 2 * 128);
    for (let link = 1; link <= 128; link += 1) {
      const target = link === 1 ? 12 : 2 * link + 9;
      chain.set([0xc0 | (target >> 8), target & 0xff], 2 * link + 11);
    }
    expect(readName(chain, 13 + 2 * 126)).toEqual({ name: '.', next: 267 });
    expect(() => readName(chain, 13 + 2 * 127)).toThrow('more than 127 pointers');
  });
});
