/**
 * Several instances with a Lease: one scales, and another continues when it ends.
 */
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { expect, it } from 'vitest';
import { CONFIG_MAP, configMap, FLAGS, type Instance, NAMESPACE, nodes, scalable, World } from './world.ts';

const ELECTED = [...FLAGS, '--leader-elect'];
const FIVE = [...nodes(5), scalable('coredns', 1)];

function holder({ double }: World): unknown {
  const lease = double.store.get('leases', `${NAMESPACE}/${CONFIG_MAP}`);
  return (lease?.object['spec'] as { readonly holderIdentity?: string } | undefined)?.holderIdentity;
}

/** Lets time pass in steps, in which requests are answered, until a condition holds. @returns how long it took */
async function passUntil(world: World, what: string, condition: () => boolean): Promise<number> {
  const begun = world.clock.monotonic();
  await waitUntil(what, condition, { step: () => world.clock.advance(100) });
  return world.clock.monotonic() - begun;
}

async function startTwo(): Promise<{ world: World; leader: Instance; standby: Instance }> {
  const world = await World.start({ objects: FIVE });
  const leader = world.run(ELECTED, 'one');
  await passUntil(world, 'a leader', () => leader.polls > 0);
  const standby = world.run(ELECTED, 'two');
  for (let turn = 0; turn < 50; turn += 1) await passUntil(world, 'time', () => true);
  return { world, leader, standby };
}

it('lets one instance scale', async () => {
  const { world, leader, standby } = await startTwo();
  await passUntil(world, 'more polls', () => leader.polls > 5);
  expect(holder(world)).toBe('one');
  expect([leader.autoscaler.isLeader, standby.autoscaler.isLeader]).toEqual([true, false]);
  expect([leader.metric('leader'), standby.metric('leader')]).toEqual([1, 0]);
  expect([standby.polls, standby.error]).toEqual([0, undefined]);
  expect(world.replicas()).toBe(3);
});

it('acts on the first change after the election within a second', async () => {
  const { world, leader, standby } = await startTwo();
  await leader.stop();
  await passUntil(world, 'the other', () => standby.polls > 0);
  // Its watches are under way, and what they tell first is known to the poll.
  await passUntil(world, 'watches', () => world.double.watches.size === 2);
  world.double.put(configMap({ linear: '{"nodesPerReplica":1}' }));
  const end = world.clock.monotonic() + 1_000;
  const step = () => {
    if (world.clock.monotonic() < end) world.clock.advance(2);
  };
  await waitUntil('an early poll', () => world.replicas() === 5, { step });
});

it('hands over at once when the leader stops', async () => {
  const { world, leader, standby } = await startTwo();
  await leader.stop();
  expect(holder(world)).toBe('');
  const took = await passUntil(world, 'the other', () => standby.autoscaler.isLeader && standby.polls > 0);
  expect(took).toBeLessThan(5_000);
  expect(holder(world)).toBe('two');
});

it('hands over when the leader is cut off, which by then has stopped writing', async () => {
  const { world, leader, standby } = await startTwo();
  // The token of the leader is taken for none.
  world.double.access = { tokens: { two: 'scaler' } };
  let overlapped = false;
  const took = await passUntil(world, 'the other', () => {
    overlapped ||= leader.autoscaler.isLeader && standby.autoscaler.isLeader;
    return standby.autoscaler.isLeader;
  });
  expect(overlapped).toBe(false);
  expect(leader.autoscaler.isLeader).toBe(false);
  expect(took).toBeGreaterThan(5_000);
  expect(holder(world)).toBe('two');
  const lease = world.double.store.get('leases', `${NAMESPACE}/${CONFIG_MAP}`);
  expect(lease?.object['spec']).toMatchObject({ leaseTransitions: 1, leaseDurationSeconds: 15 });
});
