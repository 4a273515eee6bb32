import { describe, expect, it } from 'vitest';
import { parseAddress } from './address.ts';
import { matchRanges, parseAddressRange } from './address-range.ts';

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
