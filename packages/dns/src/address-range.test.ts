import { describe, expect, it } from 'vitest';
import { parseAddress } from './address.ts';
import { holdsAddress, matchRanges, parseAddressRange, uniteRanges } from './address-range.ts';

function holds(ranges: readonly string[], address: string): boolean {
  const parsed = ranges.map((range) => {
    const [start = '', prefix = ''] = range.split('/');
    return { address: start, prefix: Number(prefix) };
  });
  return matchRanges(parsed)(parseAddress(address) ?? new Uint8Array());
}

describe('a range of addresses', () => {
  it.each([
    [['10.0.0.0/8'], '10.255.0.1', true],
    [['10.0.0.0/8'], '11.0.0.0', false],
    [['172.16.0.0/12'], '172.31.255.255', true],
    [['172.16.0.0/12'], '172.32.0.0', false],
    [['192.0.2.7/32'], '192.0.2.7', true],
    [['192.0.2.7/32'], '192.0.2.6', false],
    [['0.0.0.0/0'], '203.0.113.1', true],
    [['0.0.0.0/0'], '::1', false],
    [['2001:db8::/33'], '2001:db8:7fff::1', true],
    [['2001:db8::/33'], '2001:db8:8000::1', false],
    [['10.0.0.0/8', 'fd00::/8'], 'fd12::1', true],
    [[], '10.0.0.1', false],
    [['nonsense/0'], '10.0.0.1', false],
  ])('%j with %s: %s', (ranges, address, expected) => {
    expect(holds(ranges, address)).toBe(expected);
  });
});

it.each([
  ['10.0.0.0/8', { address: '10.0.0.0', prefix: 8 }],
  ['10.0.0.1', { address: '10.0.0.1', prefix: 32 }],
  ['2001:db8::/0', { address: '2001:db8::', prefix: 0 }],
  ['10.0.0.0/33', undefined],
  ['10.0.0.0/', undefined],
  ['10.0.0.0/8/9', undefined],
  ['ten/8', undefined],
  ['', undefined],
])('%s is read', (text, range) => {
  expect(parseAddressRange(text)).toEqual(range);
});

it('holds the text of an address of its family', () => {
  const range = { address: '192.0.2.9', prefix: 24 };
  const texts = ['192.0.2.0', '192.0.2.255', '192.0.3.0', '::ffff:192.0.2.1', 'localhost', ''];
  expect(texts.map((text) => holdsAddress(range, text))).toEqual([true, true, false, false, false, false]);
});

it('is united with equal ones at the place of the first', () => {
  const [one, other] = ['10.0.0.0/8', '10.0.0.0/9'].flatMap((text) => parseAddressRange(text) ?? []);
  if (one === undefined || other === undefined) throw new Error('not read');
  expect(uniteRanges([one, other, { ...one }])).toEqual([one, other]);
});
