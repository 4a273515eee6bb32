/**
 * The autoscaler after failures and refusals, and its features beyond the original.
 */
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { describe, expect, it } from 'vitest';
import type { AccessRule } from '../api-server/access.ts';
import { servedByDefault } from '../api-server/catalog.ts';
import { makeNode } from './nodes.ts';
import { CONFIG_MAP, configMap, FLAGS, NAMESPACE, nodes, scalable, World } from './world.ts';

const rule = (group: string, resource: string, verbs: AccessRule['verbs']): AccessRule => ({
  groups: [group],
  resources: [resource],
  verbs,
});

/** The rights of the original, as its manifests give them. */
const RIGHTS = {
  nodes: rule('', 'nodes', ['list', 'watch']),
  configMaps: rule('', 'configmaps', ['get', 'create']),
  scale: rule('apps', 'deployments/scale', ['get', 'update']),
};

function access(rules: readonly AccessRule[]) {
  return { tokens: { one: 'scaler', two: 'scaler' }, rules: { scaler: rules } };
}

const FIVE = [...nodes(5), scalable('coredns', 1)];

describe('an API server', () => {
  it('that goes away is asked again at each poll, and the target is left alone until it answers', async () => {
    const world = await World.start({ objects: FIVE });
    const instance = await world.runPolled();
    const objects = ['nodes', 'deployments', 'configmaps'].flatMap((plural) =>
      world.double.store.list(plural).map(({ object }) => object),
    );
    await world.double.stop();
    await world.nextPoll(instance);
    expect(instance.error).toContain('ECONNREFUSED');
    await world.nextPoll(instance);
    expect(world.replicas()).toBe(3);
    const warnings = instance.log.records.filter(({ message }) => message === 'poll failed');
    expect(warnings.map(({ level }) => level)).toEqual(['warn', 'debug']);
    await world.double.restart([...objects, ...nodes(7)]);
    for (let polls = 0; polls < 20 && world.replicas() !== 4; polls += 1) await world.nextPoll(instance);
    expect(world.replicas()).toBe(4);
    expect(instance.error).toBeUndefined();
    expect(instance.log.text).toContain('polls succeed again');
  });

  it.each([500, 429, 403])('that refuses the ConfigMap with %d is not asked to create it', async (status) => {
    const world = await World.start({ objects: FIVE });
    const fault = { kind: 'status', status, message: 'no' } as const;
    world.double.faults.add({ plural: 'configmaps', verb: 'get', fault, times: 100 });
    const instance = await world.runPolled();
    expect(instance.error).toBe('no');
    expect(world.requests).toEqual([`GET /api/v1/namespaces/${NAMESPACE}/configmaps/${CONFIG_MAP}`]);
    world.double.faults.clear();
    await world.nextPoll(instance);
    expect(instance.error).toBeUndefined();
    expect(world.replicas()).toBe(3);
  });

  it('that reports a conflict is asked again in the same poll', async () => {
    const world = await World.start({ objects: FIVE });
    const fault = { kind: 'status', status: 409 } as const;
    world.double.faults.add({ plural: 'deployments', verb: 'update', fault, times: 3 });
    const instance = await world.runPolled();
    expect(instance.error).toBeUndefined();
    expect(world.replicas()).toBe(3);
    expect(world.requests.filter((line) => line.startsWith('PUT '))).toHaveLength(4);
  });

  it('that reports conflicts without end is asked again at the next poll', async () => {
    const world = await World.start({ objects: FIVE });
    const fault = { kind: 'status', status: 409, message: 'changed again' } as const;
    world.double.faults.add({ plural: 'deployments', verb: 'update', fault, times: 6 });
    const instance = await world.runPolled();
    expect(instance.error).toBe('changed again');
    await world.nextPoll(instance);
    expect(world.replicas()).toBe(3);
  });

  it('that never answers a write does not stop the autoscaler', async () => {
    const world = await World.start({ objects: FIVE });
    world.double.faults.add({ plural: 'deployments', verb: 'update', fault: { kind: 'stall' } });
    const instance = world.run();
    world.clock.advance(0);
    await waitUntil('the write', () => world.requests.some((line) => line.startsWith('PUT ')));
    world.clock.advance(10_000);
    await waitUntil('the end of the poll', () => instance.polls === 1);
    expect(instance.error).toContain('no answer within 10 s');
    await world.nextPoll(instance);
    expect(world.replicas()).toBe(3);
  });

  it('has no ConfigMap and none may be created: nothing is scaled', async () => {
    const world = await World.start({ objects: FIVE });
    const instance = await world.runPolled(FLAGS.filter((flag) => !flag.includes('default-params')));
    expect(instance.error).toBe(`configmaps "${CONFIG_MAP}" not found`);
    world.double.put(configMap({ linear: '{"nodesPerReplica":3}' }));
    await world.nextPoll(instance);
    expect(world.replicas()).toBe(2);
  });
});

describe('targets', () => {
  const targets = (list: string) => [
    ...FLAGS.filter((flag) => !flag.startsWith('--target')),
    `--target=${list}`,
  ];

  it('that fail do not keep the others from being scaled', async () => {
    const objects = [...nodes(5), scalable('a', 1), scalable('c', 1)];
    const world = await World.start({ objects });
    const instance = await world.runPolled(targets('deployment/a, Deployment/B,deployment/c'));
    expect([world.replicas('a'), world.replicas('c')]).toEqual([3, 3]);
    expect(instance.error).toBe('deployments/scale.apps "b" not found');
    world.double.put(scalable('b', 1));
    await world.nextPoll(instance);
    expect([world.replicas('b'), instance.error]).toEqual([3, undefined]);
    expect(instance.metric('scalings_total{target="deployment/b",direction="up"}')).toBe(1);
    expect(instance.metric('current_replicas{target="deployment/b"}')).toBe(3);
  });

  it('may be of any kind with a scale subresource', async () => {
    const objects = [
      ...nodes(5),
      ...['ReplicaSet', 'StatefulSet', 'ReplicationController', 'Rollout'].map((kind) =>
        scalable('x', 0, kind),
      ),
    ];
    const serves = [...servedByDefault, 'argoproj.io/v1alpha1/rollouts'];
    const world = await World.start({ objects, serves });
    const list = 'replicaset/x,statefulset/x,replicationcontroller/x,rollout.argoproj.io/x';
    const instance = await world.runPolled(targets(list));
    expect(instance.error).toBeUndefined();
    for (const plural of ['replicasets', 'statefulsets', 'replicationcontrollers', 'rollouts'])
      expect([plural, world.replicas('x', plural)]).toEqual([plural, 3]);
  });

  it('without a scale subresource are said to have none', async () => {
    const world = await World.start({ objects: FIVE });
    const instance = await world.runPolled(targets('lease.coordination.k8s.io/x,widget.nowhere.test/x'));
    expect(instance.error).toBe(
      'no resource with a scale subresource: lease.coordination.k8s.io; the server could not find the requested resource',
    );
  });

  it('are told of in Events', async () => {
    const world = await World.start({ objects: FIVE });
    await world.runPolled();
    const events = world.double.store.list('events').map(({ object }) => object);
    expect(events).toMatchObject([
      {
        involvedObject: { kind: 'Deployment', apiVersion: 'apps/v1', name: 'coredns', namespace: NAMESPACE },
        reason: 'ScaledUp',
        message: 'Scaled from 1 to 3 replicas: 5 of 5 nodes and 20 of 20 cores take pods',
        type: 'Normal',
      },
    ]);
  });

  it('are only told of in a dry run', async () => {
    const world = await World.start({ objects: FIVE });
    const instance = await world.runPolled([...FLAGS, '--dry-run', '--leader-elect']);
    expect(instance.error).toBeUndefined();
    expect(world.replicas()).toBe(1);
    expect(world.data).toBeUndefined();
    const told = instance.log.records.find(({ message }) => message === 'would be scaled');
    expect(told?.fields).toMatchObject({ target: 'deployment/coredns', from: 1, to: 3 });
    const writes = world.double.requests.filter(({ verb }) => verb === 'create' || verb === 'update');
    expect(writes).toEqual([]);
  });
});

describe('rights', () => {
  it.each([true, false])('of the original are enough (a server with watch-list: %s)', async (watchList) => {
    const rules = Object.values(RIGHTS);
    const world = await World.start({ objects: FIVE, access: access(rules), watchList });
    const instance = await world.runPolled();
    expect([world.replicas(), instance.error]).toEqual([3, undefined]);
    world.double.put(configMap({ linear: '{"nodesPerReplica":1}' }));
    for (let polls = 0; polls < 8; polls += 1) await world.nextPoll(instance);
    expect([world.replicas(), instance.error]).toEqual([5, undefined]);
    expect(instance.log.text).toContain('the ConfigMap may not be watched');
    expect(instance.log.text).toContain('events cannot be written');
    const watches = () =>
      world.double.requests.filter(({ verb, plural }) => verb === 'watch' && plural === 'configmaps').length;
    const before = watches();
    for (let polls = 0; polls < 10; polls += 1) await world.nextPoll(instance);
    expect(watches()).toBe(before);
  });

  it.each([true, false])(
    'without watch on nodes: they are listed at each poll (watch-list: %s)',
    async (watchList) => {
      const listOnly = rule('', 'nodes', ['list']);
      const rules = [listOnly, RIGHTS.configMaps, RIGHTS.scale];
      const world = await World.start({ objects: FIVE, access: access(rules), watchList });
      const instance = await world.runPolled();
      expect([world.replicas(), instance.error]).toEqual([3, undefined]);
      for (const node of nodes(8)) world.double.put(node);
      await world.nextPoll(instance);
      expect([world.replicas(), instance.error]).toEqual([4, undefined]);
    },
  );

  it('without list on nodes: polls fail, and say why', async () => {
    const world = await World.start({ objects: FIVE, access: access([RIGHTS.configMaps, RIGHTS.scale]) });
    const instance = await world.runPolled();
    expect(instance.error).toContain('User "scaler" cannot list resource "nodes"');
    expect(world.replicas()).toBe(1);
    world.double.access = access(Object.values(RIGHTS));
    await world.nextPoll(instance);
    expect([world.replicas(), instance.error]).toEqual([3, undefined]);
  });

  it('without update on scale: polls fail, and say why', async () => {
    const noUpdate = rule('apps', 'deployments/scale', ['get', 'patch']);
    const rules = [RIGHTS.nodes, RIGHTS.configMaps, noUpdate];
    const world = await World.start({ objects: FIVE, access: access(rules) });
    const instance = await world.runPolled();
    expect(instance.error).toBe(
      `deployments.apps "coredns" is forbidden: User "scaler" cannot update resource "deployments/scale" in API group "apps" in the namespace "${NAMESPACE}"`,
    );
  });
});

describe('nodes', () => {
  it('are those that --nodelabels selects', async () => {
    const labelled = (name: string, pool: string) =>
      makeNode(name, { cpu: '4', ready: 'True', labels: { pool } });
    const objects = [labelled('a', 'x'), labelled('b', 'x'), labelled('c', 'y'), scalable('coredns', 1)];
    const world = await World.start({ objects, watchList: true });
    world.double.put(configMap({ linear: '{"nodesPerReplica":1}' }));
    const instance = await world.runPolled([...FLAGS, '--nodelabels=pool=x']);
    expect(world.replicas()).toBe(2);
    world.double.put(labelled('c', 'x'));
    for (let polls = 0; polls < 20 && world.replicas() !== 3; polls += 1) await world.nextPoll(instance);
    expect(world.replicas()).toBe(3);
    world.double.put(labelled('a', 'y'));
    for (let polls = 0; polls < 20 && world.replicas() !== 2; polls += 1) await world.nextPoll(instance);
    expect(world.replicas()).toBe(2);
  });

  it('cannot be selected by what is no selector: polls fail, and say why', async () => {
    const world = await World.start({ objects: FIVE });
    const instance = await world.runPolled([...FLAGS, '--nodelabels=a in']);
    expect(instance.error).toContain('unable to parse requirement');
    expect(world.replicas()).toBe(1);
  });

  it.each([true, false])('are read in Protocol Buffers: %s', async (protobuf) => {
    const more = [
      makeNode('half', { cpu: '1500m', ready: 'True' }),
      makeNode('away', { cpu: '64', ready: 'Unknown' }),
      makeNode('cordoned', { cpu: '64', ready: 'True', unschedulable: true }),
      makeNode('silent', { ready: 'True' }),
    ];
    const world = await World.start({ objects: [...FIVE, ...more], protobuf });
    const instance = await world.runPolled();
    const names = ['nodes', 'schedulable_nodes', 'cores', 'schedulable_cores', 'wanted_replicas'];
    expect(names.map((name) => instance.metric(name))).toEqual([9, 7, 150, 22, 4]);
  });
});

/** In steps, between which what was sent arrives. */
async function passTime({ clock }: World, milliseconds: number): Promise<void> {
  for (let left = milliseconds; left > 0; left -= 100) {
    clock.advance(100);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('changes', () => {
  it('after a quiet time are acted on within a second, later ones at the end of the period', async () => {
    const world = await World.start({ objects: FIVE, watchList: true });
    const instance = await world.runPolled();
    await waitUntil('watches', () => world.double.watches.size === 2);
    await passTime(world, 2_000);
    // The start made no reason for another one.
    expect(instance.polls).toBe(1);
    world.double.put(configMap({ linear: '{"nodesPerReplica":1}' }));
    const step = () => {
      // Far less than what is left of the period, in all.
      if (world.clock.monotonic() < 3_000) world.clock.advance(10);
    };
    await waitUntil('an early poll', () => instance.polls === 2, { step });
    expect(world.replicas()).toBe(5);
    expect(world.clock.monotonic()).toBeLessThan(3_000);
    world.double.put(makeNode('w5', { cpu: '4', ready: 'True' }));
    await passTime(world, 2_000);
    expect(instance.polls).toBe(2);
    await world.nextPoll(instance);
    expect(world.replicas()).toBe(6);
  });
});

describe('failures in a row', () => {
  it('end the program where they are limited', async () => {
    const world = await World.start({ objects: nodes(5) });
    const instance = await world.runPolled([...FLAGS, '--max-sync-failures=3']);
    let error: Error | undefined;
    void instance.autoscaler.failure.then((reason) => {
      error = reason;
    });
    await world.nextPoll(instance);
    expect(error).toBeUndefined();
    await world.nextPoll(instance);
    await waitUntil('the end', () => error !== undefined);
    expect(error?.message).toBe(
      '3 polls in a row failed, as many as --max-sync-failures allows: deployments/scale.apps "coredns" not found',
    );
  });
});
