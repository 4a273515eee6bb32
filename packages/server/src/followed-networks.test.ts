import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import type { Interfaces } from '@portolan/kernel/listen/local-addresses.ts';
import { expect, it } from 'vitest';
import { FollowedNetworks } from './followed-networks.ts';

const entry = (address: string) =>
  ({
    address,
    cidr: `${address}/24`,
    netmask: '255.255.255.0',
    mac: '',
    family: 'IPv4',
    internal: false,
  }) as const;

it('tells when the networks of the machine change, and only then', () => {
  const clock = new ManualClock();
  let machine: Interfaces = { eth0: [entry('192.0.2.1')] };
  let changes = 0;
  const followed = new FollowedNetworks(
    () => machine,
    clock,
    () => {
      changes += 1;
    },
  );
  clock.advance(20_000);
  expect(changes).toBe(0);
  machine = { eth0: [entry('192.0.2.1')], eth1: [entry('198.51.100.1')] };
  clock.advance(20_000);
  expect(changes).toBe(1);
  // The same networks on renamed interfaces.
  machine = { eth1: [entry('192.0.2.1')], eth2: [entry('198.51.100.1')] };
  clock.advance(20_000);
  expect(changes).toBe(1);
  followed.stop();
  machine = {};
  clock.advance(20_000);
  expect(changes).toBe(1);
});
