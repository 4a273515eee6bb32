import { formatAddress, parseAddress } from '@portolan/dns/address.ts';
import { parseName, toKey } from '@portolan/dns/name.ts';
import { describe, expect, it } from 'vitest';
import { isPrivate, octetsOfReverseName } from './private-networks.ts';

const octets = (address: string) => parseAddress(address) ?? new Uint8Array();

describe('private addresses', () => {
  it.each([
    '10.1.2.3',
    '172.31.0.1',
    '192.168.255.1',
    '169.254.0.1',
    'fd00::1',
    'fe80::1',
    '::ffff:10.0.0.1',
  ])('%s is one', (address) => expect(isPrivate(octets(address), false)).toBe(true));

  it.each(['9.255.255.255', '172.32.0.1', '100.64.0.1', '2001:db9::1', 'fc00::1', '::ffff:8.8.8.8'])(
    '%s is not private',
    (address) => expect(isPrivate(octets(address), true)).toBe(false),
  );

  it.each(['127.0.0.1', '0.0.0.0', '::1', '::'])('%s is one where this host counts', (address) => {
    expect([isPrivate(octets(address), false), isPrivate(octets(address), true)]).toEqual([false, true]);
  });
});

describe('the address of a reverse name', () => {
  it.each([
    ['4.3.2.1.in-addr.arpa.', '1.2.3.4'],
    ['2.1.in-addr.arpa.', '1.2.0.0'],
    ['8.b.d.0.1.0.0.2.ip6.arpa.', '2001:db8::'],
    ['5.4.3.2.1.in-addr.arpa.', undefined],
    ['x.1.in-addr.arpa.', undefined],
    ['256.in-addr.arpa.', undefined],
    ['g.ip6.arpa.', undefined],
    ['ab.ip6.arpa.', undefined],
    ['in-addr.arpa.', undefined],
    ['example.', undefined],
  ])('%s: %s', (name, expected) => {
    const found = octetsOfReverseName(toKey(parseName(name)));
    expect(found && formatAddress(found)).toBe(expected);
  });
});
