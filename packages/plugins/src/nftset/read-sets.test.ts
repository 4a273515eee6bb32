import { describe, expect, it } from 'vitest';
import { readNftsetRule } from './read-sets.ts';

const allowed = { family: 'inet', table: 'filter', name: 'allowed', only: undefined };

describe('the value of nftset', () => {
  it.each([
    ['/example.com/inet#filter#allowed', ['example.com.'], [allowed]],
    ['/Example.com./.example.org/inet#filter#allowed', ['example.com.', 'example.org.'], [allowed]],
    ['/#/inet#filter#allowed', ['.'], [allowed]],
    ['//inet#filter#allowed', ['.'], [allowed]],
    ['inet#filter#allowed', ['.'], [allowed]],
    ['/a/edge#out', ['a.'], [{ family: 'ip', table: 'edge', name: 'out', only: undefined }]],
    [
      '/a/4#ip#t#s4,6#ip6#t#s-6',
      ['a.'],
      [
        { family: 'ip', table: 't', name: 's4', only: 'ipv4' },
        { family: 'ip6', table: 't', name: 's-6', only: 'ipv6' },
      ],
    ],
  ])('%s', (text, domains, sets) => {
    expect(readNftsetRule(text, true)).toEqual({ domains, sets, isClosed: true });
  });

  it.each([
    ['/example.com/', 'not a set', ''],
    ['/example.com', 'no set', '/example.com'],
    ['/example.com/allowed', 'not a set', 'allowed'],
    ['/example.com/ipv4#filter#allowed', 'not a set', 'ipv4#filter#allowed'],
    ['/example.com/inet#filter#allowed#more', 'not a set', 'inet#filter#allowed#more'],
    ['/example.com/inet#filter#a b', 'not a set', 'inet#filter#a b'],
    [`/example.com/t#${'s'.repeat(256)}`, 'not a set', `t#${'s'.repeat(256)}`],
    ['/a..b/t#s', 'not a domain name', 'a..b'],
  ])('%s is refused: %s', (text, fault, value) => {
    expect(readNftsetRule(text, false)).toMatchObject({ fault, value });
  });
});
