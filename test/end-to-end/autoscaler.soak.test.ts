/**
 * `portolan autoscaler` while nodes, targets and parameters are created, changed and deleted: the whole program against the API
 * server double, by lists and by watch-lists, and against a real cluster if `PORTOLAN_TEST_KUBECONFIG` names one.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import type { AccessRule } from '../api-server/access.ts';
import { ADDON_COMMAND, ADDON_RULES } from '../autoscaler/addon.ts';
import { afterFile } from '../support/after-file.ts';
import { endAllPrograms } from '../support/portolan.ts';
import { startInterferingProxy } from './interfering-proxy.ts';
import { SCALABLE_KINDS } from './scalable-objects.ts';
import {
  defaultParams,
  expectLastPoll,
  lastPoll,
  linear,
  metric,
  passPolls,
  ScalingScene,
} from './scaling-scene.ts';
import { CLUSTERS, type TestCluster } from './test-cluster.ts';

const WEB = '--target=deployment/web';

const rule = (group: string, resource: string, verbs: AccessRule['verbs']): AccessRule => ({
  groups: [group],
  resources: [resource],
  verbs,
});
/** Nothing can be written with these. */
const READ_RULES = [
  rule('', 'nodes', ['list', 'watch']),
  rule('', 'configmaps', ['get', 'list', 'watch']),
  rule('apps', 'deployments/scale', ['get']),
];

describe.each(CLUSTERS)('in $title', ({ open }) => {
  let cluster: TestCluster;

  beforeAll(async () => {
    cluster = await open();
    // Before what they write to goes.
    afterFile(endAllPrograms);
  });

  it.concurrent('the ConfigMap is created, and followed as it changes, breaks and goes', async () => {
    const scene = await ScalingScene.open(cluster);
    await scene.addTarget();
    const program = scene.run([WEB, defaultParams(linear(2))]);
    await scene.expectReplicas(3);
    expect(JSON.parse(((await scene.parameters()) as { linear: string }).linear)).toEqual(
      JSON.parse(linear(2).linear),
    );
    await scene.setParameters({
      ladder: '{"nodesToReplicas":[[1,1],[4,2]],"includeUnschedulableNodes":true}',
    });
    await scene.expectReplicas(2);
    await scene.setParameters({ linear: '{"nodesPerReplica":' });
    await expectLastPoll(program, /error parsing linear params/);
    await scene.changeTarget((current) => ({
      ...current,
      spec: { ...Object(current['spec']), replicas: 4 },
    }));
    await passPolls(program, 1);
    expect(await scene.replicas()).toBe(4);
    await scene.setParameters(linear(1));
    await scene.expectReplicas(5);
    await expectLastPoll(program, '');
    await scene.removeParameters();
    await scene.expectReplicas(3);
    expect(await scene.parameters()).toHaveProperty('linear');
  });

  it.concurrent('nodes are counted as they come, are cordoned, become unready and go', async () => {
    const scene = await ScalingScene.open(cluster, 2);
    await scene.addTarget();
    scene.run([WEB, '--default-params={"linear":{"coresPerReplica":4}}']);
    await scene.expectReplicas(2);
    for (const number of [2, 3, 4]) await scene.addNode(number);
    await scene.expectReplicas(5);
    const cordon = (unschedulable: boolean) =>
      cluster.change(scene.node(0), (current) => ({
        ...current,
        spec: { ...Object(current['spec']), unschedulable },
      }));
    await cordon(true);
    await scene.expectReplicas(4);
    await cluster.setStatus(scene.node(1), scene.node(1, 'False')['status']);
    await scene.expectReplicas(3);
    await cluster.remove(scene.node(2));
    await scene.expectReplicas(2);
    await cordon(false);
    await scene.expectReplicas(3);
  });

  it.concurrent('targets of all kinds are scaled and told of, one that is away does not stop the others', async () => {
    const scene = await ScalingScene.open(cluster);
    for (const kind of SCALABLE_KINDS) await scene.addTarget(kind);
    const target = `--target=deployment/web,replicaset/web,statefulset/web,replicationcontroller/web,pool.${scene.poolGroup}/web`;
    const program = scene.run([target, defaultParams(linear(2))]);
    for (const kind of SCALABLE_KINDS) await scene.expectReplicas(3, kind);
    await expectLastPoll(program, '');
    const up = SCALABLE_KINDS.map((kind) => `ScaledUp ${kind}/web`);
    await scene.expectEvents(up.toSorted());
    await scene.removeTarget();
    await scene.setParameters(linear(1));
    for (const kind of SCALABLE_KINDS) if (kind !== 'Deployment') await scene.expectReplicas(5, kind);
    await expectLastPoll(program, /deployments.* "web" not found/);
    await scene.addTarget();
    await scene.expectReplicas(5);
    await expectLastPoll(program, '');
  });

  it.concurrent('nothing is written where nothing changes, or in a dry run', async () => {
    const scene = await ScalingScene.open(cluster);
    await scene.addTarget();
    const reader = await cluster.addUser(scene.namespace, 'reader', READ_RULES);
    const dry = scene.run([WEB, defaultParams(linear(2)), '--dry-run', '--leader-elect'], reader);
    expect(await dry.heard('would be scaled')).toMatchObject({ target: 'deployment/web', from: 1, to: 3 });
    await expectLastPoll(dry, '');
    expect([await scene.replicas(), await scene.parameters(), await scene.events()]).toEqual([
      1,
      undefined,
      [],
    ]);
    await scene.setParameters(linear(5));
    // It may write nothing, so that each poll that goes well has not tried to.
    const idle = scene.run([WEB], reader);
    await expectLastPoll(idle, '');
    await passPolls(idle, 1);
    expect([await metric(idle, 'poll_errors_total'), await scene.replicas()]).toEqual([0, 1]);
    await scene.setParameters(linear(1));
    await expectLastPoll(
      idle,
      /"web" is forbidden: User ".*:reader" cannot update resource "deployments\/scale" in API group "apps"/,
    );
    expect(await scene.replicas()).toBe(1);
  });

  it.concurrent('the rights of the addon of Kubernetes are enough', async () => {
    const scene = await ScalingScene.open(cluster, 17);
    const [, ...words] = ADDON_COMMAND.filter((word) => !/^--(namespace|configmap)=/.test(word));
    await scene.addTarget('Deployment', 'kube-dns');
    const addon = await cluster.addUser(scene.namespace, 'addon', ADDON_RULES);
    const program = scene.run(words, addon);
    await scene.expectReplicas(2, 'Deployment', 'kube-dns');
    await expectLastPoll(program, '');
    await scene.setParameters(linear(1));
    await scene.expectReplicas(17, 'Deployment', 'kube-dns');
    expect(await lastPoll(program)).toBe('');
    expect(await scene.events()).toEqual([]);
    await program.heard('events cannot be written');
  });

  it.concurrent('of two replicas one scales, and the other goes on when that one is killed', async () => {
    const scene = await ScalingScene.open(cluster);
    await scene.addTarget();
    const elected = [WEB, defaultParams(linear(2)), '--leader-elect', '--leader-elect-lease-duration=3s'];
    const first = scene.run(elected);
    await first.heard('became the leader');
    await scene.expectReplicas(3);
    const second = scene.run(elected);
    await passPolls(first, 1);
    expect([await metric(first, 'leader'), await metric(second, 'leader')]).toEqual([1, 0]);
    first.signal('SIGKILL');
    await first.exit;
    await second.heard('became the leader');
    await scene.setParameters(linear(1));
    await scene.expectReplicas(5);
    // One that ends by itself gives the Lease back.
    second.signal('SIGTERM');
    await second.exit;
    expect(await scene.leaseHolder()).toBe('');
    await scene.run(elected).heard('became the leader');
    await scene.setParameters(linear(5));
    await scene.expectReplicas(1);
  });

  it.concurrent('a write that others came before is done again in the same poll', async () => {
    const scene = await ScalingScene.open(cluster);
    await scene.addTarget();
    let changes = 0;
    const proxy = await startInterferingProxy(
      (...request) => cluster.send(...request),
      () => {
        changes += 1;
        const annotations = { 'portolan-test': String(changes) };
        return scene.changeTarget((current) => ({
          ...current,
          metadata: { ...current.metadata, annotations },
        }));
      },
      3,
    );
    const program = scene.run([WEB, defaultParams(linear(2)), `--kube-master-url=${proxy.url}`]);
    await scene.expectReplicas(3);
    await passPolls(program, 1);
    // The controllers of a real cluster may come before it too.
    expect(proxy.conflicts()).toBeGreaterThanOrEqual(3);
    expect(await metric(program, 'poll_errors_total')).toBe(0);
    // Nodes may not be watched, so that they are listed at each poll.
    await scene.addNode(5);
    await scene.addNode(6);
    await scene.expectReplicas(4);
    await expectLastPoll(program, '');
  });
});
