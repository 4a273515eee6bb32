import { expect, it } from 'vitest';
import { SignatureCache } from './signature-cache.ts';

const VALID = { inception: 0, expiration: 8 * 24 * 3600 };
const octets = (length: number) => [new Uint8Array(length)];

it('keeps at least 1024 sets, and forgets the least recently used first', () => {
  const cache = new SignatureCache(10);
  for (let set = 0; set < 1024; set += 1) cache.add(`s${set}`, octets(1), VALID);
  expect(cache.get('s0', 1)).toBeDefined();
  cache.add('new', octets(1), VALID);
  expect(cache.size).toBe(1024);
  expect(cache.get('s0', 1)).toBeDefined();
  expect(cache.get('s1', 1)).toBe(undefined);
});

it('keeps no more octets than its capacity allows', () => {
  const cache = new SignatureCache(1024);
  for (let set = 0; set < 100; set += 1) cache.add(`s${set}`, octets(65_536), VALID);
  expect(cache.size).toBe(15);
  cache.add('too large', octets(2 ** 21), VALID);
  expect(cache.size).toBe(0);
});

it('counts a set that is signed again once', () => {
  const cache = new SignatureCache(1024);
  for (let time = 0; time < 100; time += 1) cache.add('one', octets(65_536), VALID);
  cache.add('other', octets(1), VALID);
  expect(cache.size).toBe(2);
});
