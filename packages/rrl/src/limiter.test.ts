import type { Reply, Rr } from '@portolan/plugin';
import { describe, expect, it } from 'vitest';
import { BLOCK, makeQuery, makeReply, makeUse } from '../../testing/src/uses.ts';
import { Limiter } from './limiter.ts';
import { readOptions } from './options.ts';

const A = 1;
const AAAA = 28;
const address = (name: string): Rr => ({ name, type: A, ttl: 60, data: '192.0.2.9' });
const soa: Rr = { name: 'example.org.', type: 6, ttl: 60, data: 'ns host 1 1 1 1 1' };
const ns: Rr = { name: 'sub.example.org.', type: 2, ttl: 60, data: 'ns.sub.example.org.' };

function makeLimiter(...lines: readonly string[]) {
  return new Limiter(readOptions([makeUse('rrl', ...lines)], BLOCK), () => 0);
}

const from = (client: string, transport = 'udp') => ({ address: client, transport });

describe('responses', () => {
  it.each<{ what: string; one: [string, number, Reply]; other: [string, number, Reply]; alike: boolean }>([
    {
      ...{ what: 'of one name, with other capitals', alike: true },
      ...{ one: ['a.', A, makeReply(0, [address('a.')])], other: ['A.', A, makeReply(0, [address('A.')])] },
    },
    {
      ...{ what: 'of two types', alike: false },
      ...{
        one: ['a.', A, makeReply(0, [address('a.')])],
        other: ['a.', AAAA, makeReply(0, [address('a.')])],
      },
    },
    {
      ...{ what: 'without records, of two types', alike: true },
      ...{ one: ['a.', A, makeReply(0, [], [soa])], other: ['a.', AAAA, makeReply(0, [], [soa])] },
    },
    {
      ...{ what: 'that deny two names of a zone', alike: true },
      ...{ one: ['a.', A, makeReply(3, [], [soa])], other: ['b.', AAAA, makeReply(3, [], [soa])] },
    },
    {
      ...{ what: 'that refer two names to a zone', alike: true },
      ...{ one: ['a.', A, makeReply(0, [], [ns])], other: ['b.', A, makeReply(0, [], [ns])] },
    },
    {
      ...{ what: 'with two errors', alike: true },
      ...{ one: ['a.', A, makeReply(2)], other: ['b.', AAAA, makeReply(5)] },
    },
    {
      ...{ what: 'that deny a type, and a name', alike: false },
      ...{ one: ['a.', A, makeReply(0, [], [soa])], other: ['a.', A, makeReply(3, [], [soa])] },
    },
  ])('$what count together: $alike', ({ one, other, alike }) => {
    const limiter = makeLimiter('responses-per-second 1');
    const debit = ([name, type, reply]: typeof one) => limiter.response(makeQuery(name, type), reply);
    expect(debit(one)).toBe('within');
    expect(debit(other)).toBe(alike ? 'exceeded' : 'within');
  });

  it('are limited for each network, over UDP', () => {
    const limiter = makeLimiter('responses-per-second 1');
    const debit = (client: string, transport?: string) =>
      limiter.response(makeQuery('a.', A, from(client, transport)), makeReply(0, [address('a.')]));
    expect(debit('192.0.2.1')).toBe('within');
    expect(debit('192.0.2.2')).toBe('exceeded');
    expect(debit('192.0.3.1')).toBe('within');
    for (const transport of ['tcp', 'tls', 'https']) expect(debit('192.0.2.2', transport)).toBe('within');
  });

  it('have rates by their kinds', () => {
    const limiter = makeLimiter('responses-per-second 1', 'errors-per-second 0', 'nxdomains-per-second 3');
    const debits = (reply: Reply) =>
      Array.from({ length: 5 }, () => limiter.response(makeQuery('a.'), reply));
    expect(debits(makeReply(2))).not.toContain('exceeded');
    expect(debits(makeReply(3)).indexOf('exceeded')).toBe(3);
    expect(debits({ kind: 'drop' })).not.toContain('exceeded');
  });
});

it('limits the requests of a network, by any transport', () => {
  const limiter = makeLimiter('requests-per-second 2');
  const request = (client: string, transport: string) =>
    limiter.request(makeQuery('a.', A, from(client, transport)));
  expect(request('192.0.2.1', 'udp')).toBe('within');
  expect(request('192.0.2.2', 'tcp')).toBe('within');
  expect(request('192.0.2.3', 'tls')).toBe('exceeded');
  expect(makeLimiter().request(makeQuery('a.'))).toBe('within');
});
