import { type Answer, type Client, toName } from '@portolan/plugin';
import { describe, expect, it } from 'vitest';
import { BLOCK, makeAnswer, makeQuery, makeRecord, makeUse } from '../../testing/src/uses.ts';
import { Limiter } from './limiter.ts';
import { readOptions } from './options.ts';

const A = 1;
const AAAA = 28;
const address = (name: string) => makeRecord(name, { kind: 'A', address: '192.0.2.9' });
const soa = makeRecord('example.org.', {
  kind: 'SOA',
  primary: toName('ns.'),
  mailbox: toName('host.'),
  serial: 1,
  refresh: 1,
  retry: 1,
  expire: 1,
  minimum: 1,
});
const ns = makeRecord('sub.example.org.', { kind: 'NS', target: toName('ns.sub.example.org.') });

function makeLimiter(...lines: readonly string[]) {
  return new Limiter(readOptions([makeUse('rrl', ...lines)], BLOCK), () => 0);
}

const from = (address: string, transport: Client['transport'] = 'udp') => ({ address, transport });

describe('responses', () => {
  it.each<{ what: string; one: [string, number, Answer]; other: [string, number, Answer]; alike: boolean }>([
    {
      what: 'of one name, with other capitals',
      alike: true,
      one: ['a.', A, makeAnswer(0, [address('a.')])],
      other: ['A.', A, makeAnswer(0, [address('A.')])],
    },
    {
      what: 'of two types',
      alike: false,
      one: ['a.', A, makeAnswer(0, [address('a.')])],
      other: ['a.', AAAA, makeAnswer(0, [address('a.')])],
    },
    {
      what: 'without records, of two types',
      alike: true,
      one: ['a.', A, makeAnswer(0, [], [soa])],
      other: ['a.', AAAA, makeAnswer(0, [], [soa])],
    },
    {
      what: 'that deny two names of a zone',
      alike: true,
      one: ['a.', A, makeAnswer(3, [], [soa])],
      other: ['b.', AAAA, makeAnswer(3, [], [soa])],
    },
    {
      what: 'that refer two names to a zone',
      alike: true,
      one: ['a.', A, makeAnswer(0, [], [ns])],
      other: ['b.', A, makeAnswer(0, [], [ns])],
    },
    {
      what: 'with two errors',
      alike: true,
      one: ['a.', A, makeAnswer(2)],
      other: ['b.', AAAA, makeAnswer(5)],
    },
    {
      what: 'that deny a type, and a name',
      alike: false,
      one: ['a.', A, makeAnswer(0, [], [soa])],
      other: ['a.', A, makeAnswer(3, [], [soa])],
    },
  ])('$what count together: $alike', ({ one, other, alike }) => {
    const limiter = makeLimiter('responses-per-second 1');
    const debit = ([name, type, reply]: typeof one) => limiter.response(makeQuery(name, type), reply);
    expect(debit(one)).toBe('within');
    expect(debit(other)).toBe(alike ? 'exceeded' : 'within');
  });

  it('are limited for each network, over UDP', () => {
    const limiter = makeLimiter('responses-per-second 1');
    const debit = (client: string, transport?: Client['transport']) =>
      limiter.response(makeQuery('a.', A, from(client, transport)), makeAnswer(0, [address('a.')]));
    expect(debit('192.0.2.1')).toBe('within');
    expect(debit('192.0.2.2')).toBe('exceeded');
    expect(debit('192.0.3.1')).toBe('within');
    for (const transport of ['tcp', 'tls', 'https'] as const)
      expect(debit('192.0.2.2', transport)).toBe('within');
  });

  it('have rates by their kinds', () => {
    const limiter = makeLimiter('responses-per-second 1', 'errors-per-second 0', 'nxdomains-per-second 3');
    const debits = (reply: Answer) =>
      Array.from({ length: 5 }, () => limiter.response(makeQuery('a.'), reply));
    expect(debits(makeAnswer(2))).not.toContain('exceeded');
    expect(debits(makeAnswer(3)).indexOf('exceeded')).toBe(3);
    expect(debits({ kind: 'drop' })).not.toContain('exceeded');
  });
});

it('limits the requests of a network, by any transport', () => {
  const limiter = makeLimiter('requests-per-second 2');
  const request = (client: string, transport: Client['transport']) =>
    limiter.request(makeQuery('a.', A, from(client, transport)));
  expect(request('192.0.2.1', 'udp')).toBe('within');
  expect(request('192.0.2.2', 'tcp')).toBe('within');
  expect(request('192.0.2.3', 'tls')).toBe('exceeded');
  expect(makeLimiter().request(makeQuery('a.'))).toBe('within');
});
