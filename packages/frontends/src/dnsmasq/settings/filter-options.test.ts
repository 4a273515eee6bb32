import { describe, expect, it } from 'vitest';
import { readPlan, readProblems } from './testing/read-plan.ts';

const parseFilters = (lines: string) => readPlan(lines).filters;

describe('addresses', () => {
  it.each([
    ['bogus-nxdomain=64.94.110.11', { address: '64.94.110.11', prefix: 32 }],
    ['bogus-nxdomain=10.0.0.0/8', { address: '10.0.0.0', prefix: 8 }],
    ['bogus-nxdomain=2001:db8::1', { address: '2001:db8::1', prefix: 128 }],
    ['bogus-nxdomain=2001:db8::/32', { address: '2001:db8::', prefix: 32 }],
  ])('%s', (line, range) => {
    expect(parseFilters(line).bogusNxdomain).toEqual([range]);
  });

  it('of ignore-address are kept apart', () => {
    expect(parseFilters('ignore-address=10.0.0.1\nbogus-nxdomain=10.0.0.2')).toMatchObject({
      ignoredAddresses: [{ address: '10.0.0.1', prefix: 32 }],
      bogusNxdomain: [{ address: '10.0.0.2', prefix: 32 }],
    });
  });

  it('must be some', () => {
    expect(readProblems('bogus-nxdomain=10.0.0.0/33\nignore-address=a')).toHaveLength(2);
  });
});

describe('alias', () => {
  it.each([
    [
      'alias=1.2.3.4,6.7.8.9',
      { from: { kind: 'masked', address: '1.2.3.4' }, to: '6.7.8.9', mask: '255.255.255.255' },
    ],
    [
      'alias=1.2.3.0,6.7.8.0,255.255.255.0',
      { from: { kind: 'masked', address: '1.2.3.0' }, to: '6.7.8.0', mask: '255.255.255.0' },
    ],
    [
      'alias=192.168.0.10-192.168.0.40,10.0.0.0,255.255.255.0',
      {
        from: { kind: 'range', first: '192.168.0.10', last: '192.168.0.40' },
        to: '10.0.0.0',
        mask: '255.255.255.0',
      },
    ],
  ])('%s', (line, alias) => {
    expect(parseFilters(line).aliases).toEqual([alias]);
  });

  it.each(['1.2.3.4', 'a,b', '1.2.3.9-1.2.3.4,5.6.7.8', '1.2.3.4-1.2.3.9,5.6.7.8', '::1,::2'])(
    'refuses %s',
    (value) => {
      expect(readProblems(`alias=${value}`)).toHaveLength(1);
    },
  );

  it('given last is looked at first', () => {
    const { aliases } = parseFilters('alias=1.1.1.1,2.2.2.2\nalias=3.3.3.3,4.4.4.4');
    expect(aliases.map(({ to }) => to)).toEqual(['4.4.4.4', '2.2.2.2']);
  });
});

describe('types', () => {
  it('are given by number, by name, and by options of their own', () => {
    expect(parseFilters('filter-A\nfilter-AAAA\nfilter-rr=TXT,any, 65,nsap').types).toEqual([
      1, 28, 16, 255, 65, 22,
    ]);
  });

  it('must be known', () => {
    expect(readProblems('filter-rr=TXT,nothing,TYPE65')).toEqual([
      'standard input:1: filter-rr: not a type of records: "nothing". Give a name such as TXT, or a number to 65535.',
      'standard input:1: filter-rr: not a type of records: "TYPE65". Give a name such as TXT, or a number to 65535.',
    ]);
  });
});

describe('rebinding', () => {
  it('is stopped with exceptions', () => {
    const lines = 'stop-dns-rebind\nrebind-localhost-ok\nrebind-domain-ok=/A.example/b/\nrebind-domain-ok=c';
    expect(parseFilters(lines).rebind).toEqual({
      stops: true,
      allowsLocalhost: true,
      allowedDomains: ['a.example.', 'b.', 'c.'],
    });
  });
});

it('stands still where nothing is given', () => {
  expect(parseFilters('filterwin2k')).toEqual({
    bogusNxdomain: [],
    ignoredAddresses: [],
    aliases: [],
    windows: true,
    types: [],
    rebind: { stops: false, allowsLocalhost: false, allowedDomains: [] },
  });
});
