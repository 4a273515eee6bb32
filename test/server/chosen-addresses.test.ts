import { readPlan } from '@portolan/frontends/dnsmasq/settings/testing/read-plan.ts';
import { type Interfaces, isListeningAt } from '@portolan/kernel/listen/local-addresses.ts';
import { chooseAddresses } from '@portolan/server/chosen-addresses.ts';
import { expect, it } from 'vitest';

const IPV4 = { family: 'IPv4', mac: '', netmask: '255.255.255.0', internal: false } as const;
const MACHINE: Interfaces = {
  lo: [
    { ...IPV4, address: '127.0.0.1', cidr: '127.0.0.1/8', internal: true },
    { address: '::1', family: 'IPv6', mac: '', netmask: '', cidr: '::1/128', internal: true, scopeid: 0 },
  ],
  eth0: [
    { ...IPV4, address: '192.0.2.1', cidr: '192.0.2.1/24' },
    {
      address: 'fe80::1',
      family: 'IPv6',
      mac: '',
      netmask: '',
      cidr: 'fe80::1/64',
      internal: false,
      scopeid: 2,
    },
  ],
  eth1: [{ ...IPV4, address: '198.51.100.1', cidr: '198.51.100.1/24' }],
};

const LOOPBACK = ['127.0.0.1', '::1'];
const ETH0 = ['192.0.2.1', 'fe80::1%eth0'];
const ETH1 = ['198.51.100.1'];

it.each([
  ['', 'all'],
  ['bind-interfaces', [...LOOPBACK, ...ETH0, ...ETH1]],
  ['bind-dynamic', [...LOOPBACK, ...ETH0, ...ETH1]],
  ['interface=eth1', [...LOOPBACK, ...ETH1]],
  ['interface=eth*', [...LOOPBACK, ...ETH0, ...ETH1]],
  ['interface=eth*\nexcept-interface=eth0', [...LOOPBACK, ...ETH1]],
  ['except-interface=eth0', [...LOOPBACK, ...ETH1]],
  ['interface=eth1\nexcept-interface=lo', ETH1],
  ['listen-address=192.0.2.1', ['192.0.2.1']],
  ['listen-address=192.0.2.99', ['192.0.2.99']],
  ['listen-address=192.0.2.1\nexcept-interface=eth0', ['192.0.2.1']],
  ['listen-address=192.0.2.1\ninterface=eth1', ['192.0.2.1', ...LOOPBACK, ...ETH1]],
  ['local-service=host', LOOPBACK],
])('%j', (lines, expected) => {
  const { addresses } = chooseAddresses(readPlan(lines).listen, MACHINE);
  expect(addresses === 'all' ? 'all' : [...addresses].sort()).toEqual(
    expected === 'all' ? 'all' : [...expected].sort(),
  );
});

it.each([
  ['', '127.0.0.7', 53, true],
  ['', '192.0.2.1', 53, true],
  ['', '192.0.2.1', 54, false],
  ['', '192.0.2.99', 53, false],
  ['listen-address=127.0.0.1', '127.0.0.1', 53, true],
  ['listen-address=127.0.0.1', '127.0.0.7', 53, false],
  ['interface=eth1\nport=5353', '198.51.100.1', 5353, true],
  ['interface=eth1', '192.0.2.1', 53, false],
])('%j listens at %s port %i: %s', (lines, address, port, expected) => {
  const { listen } = readPlan(lines);
  const { addresses } = chooseAddresses(listen, MACHINE);
  expect(isListeningAt({ addresses, port: listen.port }, MACHINE, { address, port })).toBe(expected);
});

it('tells which interfaces are not there', () => {
  const choice = chooseAddresses(readPlan('interface=eth7\ninterface=wlan*\ninterface=eth0').listen, MACHINE);
  expect(choice).toMatchObject({ missing: ['eth7'] });
});
