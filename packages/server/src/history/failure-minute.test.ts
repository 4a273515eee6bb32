import { describe, expect, it } from 'vitest';
import { FailureMinute, type SeenFailure } from './failure-minute.ts';

const AT = Date.UTC(2026, 10, 29, 10, 15);

const failure = (name: string, given: Partial<SeenFailure> = {}): SeenFailure => ({
  at: AT,
  name: `${name}.`,
  type: 'A',
  client: '10.244.1.7',
  rcode: 'NXDOMAIN',
  milliseconds: 1,
  weight: 1,
  ...given,
});

it('counts failures with the same name, client and response code together', () => {
  const minute = new FailureMinute();
  const row = minute.add(failure('cart'));
  expect(minute.add(failure('cart', { at: AT + 9_000, milliseconds: 1_500 }))).toBeUndefined();
  minute.add(failure('cart', { rcode: 'SERVFAIL' }));
  if (row !== undefined)
    row.found = {
      reason: 'no-such-service',
      sentence: 'there is none',
      about: ['service shop/cart'],
      isExpected: false,
    };
  expect(minute.records('plain')).toMatchObject([
    {
      name: 'cart.',
      from: '2026-11-29T10:15:00.000Z',
      to: '2026-11-29T10:15:09.000Z',
      reason: 'no-such-service',
      about: ['service shop/cart'],
      count: 2,
      slow: 1,
      slowest: 1_500,
    },
    { rcode: 'SERVFAIL', count: 1 },
  ]);
});

it('leaves out answers that are as they should be', () => {
  const minute = new FailureMinute();
  const row = minute.add(failure('empty', { rcode: 'NODATA' }));
  if (row !== undefined) row.found = { reason: 'no-data', sentence: '', about: [], isExpected: true };
  expect(minute.records('plain')).toEqual([]);
});

describe('a flood of names at random', () => {
  const flood = 200_000;

  function makeFlood(client: (number: number) => string, suffix = ''): FailureMinute {
    const minute = new FailureMinute();
    for (let number = 0; number < flood; number += 1)
      minute.add(failure(`n${number}${suffix}`, { client: client(number) }));
    return minute;
  }

  it('of one client leaves room for all others, and is counted', () => {
    const minute = makeFlood(() => '10.244.9.9');
    for (let number = 0; number < 300; number += 1)
      minute.add(failure('cart', { client: `10.244.2.${number}` }));
    const records = minute.records('plain');
    expect(records.filter(({ name }) => name === 'cart.')).toHaveLength(300);
    expect(
      records.filter(({ client }) => client === '10.244.9.9').reduce((sum, { count }) => sum + count, 0),
    ).toBe(flood);
    expect(records.find(({ name }) => name === '*')?.count).toBeGreaterThan(flood / 2);
    expect(minute.size).toBeLessThan(2_300);
  });

  it('of as many clients leaves room for errors, and says what was left out', () => {
    const minute = makeFlood((number) => `2001:db8::${number.toString(16)}`);
    expect(minute.add(failure('www', { rcode: 'SERVFAIL' }))).toBeDefined();
    const counted = minute.records('plain').reduce((sum, { count }) => sum + count, 0);
    expect(counted + minute.leftOut).toBe(flood + 1);
    expect(minute.size).toBeLessThan(2_300);
  });

  it('of the longest names has its octets bounded', () => {
    const minute = makeFlood((number) => `client ${number}`, `.${'\\000'.repeat(240)}`);
    const octets = minute.records('plain').reduce((sum, record) => sum + JSON.stringify(record).length, 0);
    expect(octets).toBeLessThan(4 * 2 ** 20);
  });
});

describe('names', () => {
  const minute = new FailureMinute();
  const row = minute.add(failure('secret.shop'));
  minute.add(failure('other', { client: '10.244.1.8' }));
  if (row !== undefined)
    row.found = {
      reason: 'no-such-service',
      sentence: 'secret',
      about: ['service shop/secret', 'objects'],
      isExpected: false,
    };

  it('can be hashed', () => {
    const text = JSON.stringify(minute.records('hashed'));
    expect(text).not.toMatch(/secret|10\.244/);
    expect(minute.records('hashed')[0]).toMatchObject({
      name: expect.stringMatching(/^#[0-9a-f]{14}$/),
      about: ['objects'],
    });
  });

  it('can be left out', () => {
    expect(JSON.stringify(minute.records('none'))).not.toMatch(/secret|10\.244|#/);
    expect(minute.records('none')).toHaveLength(2);
  });
});
