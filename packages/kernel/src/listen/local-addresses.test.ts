import { describe, expect, it } from 'vitest';
import {
  addressesToBind,
  type Interfaces,
  isListeningAt,
  isPresent,
  type ListenAddresses,
  listOwnAddresses,
} from './local-addresses.ts';

const IPV4 = { family: 'IPv4', mac: '', netmask: '' } as const;
const IPV6 = { family: 'IPv6', mac: '', netmask: '', scopeid: 0 } as const;
const LOOPBACK = { ...IPV4, address: '127.0.0.1', cidr: '127.0.0.1/8', internal: true };
const MACHINE: Interfaces = {
  lo: [LOOPBACK],
  eth0: [
    { ...IPV4, address: '192.0.2.1', cidr: '192.0.2.1/24', internal: false },
    { ...IPV6, address: '2001:db8::1', cidr: '2001:db8::1/64', internal: false },
    { ...IPV6, address: 'fe80::1', cidr: 'fe80::1/64', internal: false, scopeid: 2 },
  ],
};

describe('a server is this one', () => {
  it.each<[ListenAddresses, string, number, boolean]>([
    [['10.0.0.10'], '10.0.0.10', 53, true],
    [['10.0.0.10'], '10.0.0.10', 5353, false],
    [['10.0.0.10'], '10.0.0.11', 53, false],
    [['10.0.0.10'], '127.0.0.1', 53, false],
    ['all', '127.0.0.53', 53, true],
    ['all', '::1', 53, true],
    ['all', '192.0.2.1', 53, true],
    ['all', '192.0.2.200', 53, false],
    [['0.0.0.0'], '127.0.0.1', 53, true],
    [['0.0.0.0'], '::1', 53, false],
    [['0.0.0.0', '10.0.0.10'], '2001:db8::1', 53, false],
  ])('listening on %s, asked at %s port %i: %s', (addresses, address, port, expected) => {
    expect(isListeningAt({ addresses, port: 53 }, MACHINE, { address, port })).toBe(expected);
  });
});

it('binds the wildcards of the families that there are', () => {
  expect(addressesToBind('all', MACHINE)).toEqual(['0.0.0.0', '::']);
  expect(addressesToBind('all', { lo: [LOOPBACK] })).toEqual(['0.0.0.0']);
  expect(addressesToBind(['192.0.2.1'], MACHINE)).toEqual(['192.0.2.1']);
});

it('is known by the addresses that others can reach', () => {
  expect(listOwnAddresses('all', MACHINE)).toEqual(['192.0.2.1', '2001:db8::1']);
  expect(listOwnAddresses(['0.0.0.0'], { lo: [LOOPBACK] })).toEqual(['127.0.0.1']);
  expect(listOwnAddresses(['127.0.0.9'], MACHINE)).toEqual(['127.0.0.9']);
});

it('can bind what is there now', () => {
  const present = ['192.0.2.1', 'fe80::1%eth0', '127.0.0.9', '0.0.0.0', '::', '::1'];
  const absent = ['192.0.2.2', 'fe80::2%eth0'];
  expect([...present, ...absent].filter((address) => isPresent(address, MACHINE))).toEqual(present);
});
