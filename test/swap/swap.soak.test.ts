/**
 * `portolan swap` and `--back` over the API server double. The tests play the controllers: they write the status of rollouts, and the
 * slices. After a swap and back the objects are as they were.
 */
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { ApiServerDouble } from '../api-server/api-server.ts';
import type { KubernetesObject } from '../api-server/object-store.ts';
import { afterFile } from '../support/after-file.ts';
import { endAllPrograms, runPortolan, servePortolan } from '../support/portolan.ts';
import { openCluster, writeKubeconfig } from './cluster-access.ts';
import { addonKubeDns, addonNodeLocalDns, kubeadmCoreDns } from './original-manifests.ts';
import { RolloutController, runSwap, type Scene, StubDns } from './swap-scene.ts';

const folder = await makeTemporaryFolder(afterFile);
const ends: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  await endAllPrograms();
  for (const end of ends.splice(0).toReversed()) await end();
});

const IMAGE = 'registry.example/portolan:0.2.0';
const COREDNS = { like: 'coredns', image: IMAGE, apply: true, watch: '60s' } as const;
const BACK = { like: 'coredns', back: true, apply: true } as const;

const slice = (service: string, ready: boolean): KubernetesObject => ({
  kind: 'EndpointSlice',
  metadata: {
    name: `${service}-1`,
    namespace: 'kube-system',
    labels: { 'kubernetes.io/service-name': service },
  },
  addressType: 'IPv4',
  ports: [],
  endpoints: [{ addresses: ['10.244.0.2'], conditions: { ready } }],
});

interface OpenScene extends Scene {
  readonly dns: StubDns;
  readonly double: ApiServerDouble;
  readonly controller: RolloutController;
  /** All objects without the fields that the server keeps for itself. */
  objects(): readonly object[];
}

/** The server counts the templates of a DaemonSet. */
const COUNTED = 'deprecated.daemonset.template.generation';

async function openScene(objects: readonly KubernetesObject[], service = 'kube-dns'): Promise<OpenScene> {
  const double = await ApiServerDouble.start({ objects: [...objects, slice(service, true)] });
  const controller = new RolloutController(double);
  const connection = await openCluster(await writeKubeconfig(folder, double));
  ends.push(
    () => double.stop(),
    () => controller.stop(),
    () => connection.close(),
  );
  const plurals = [
    'deployments',
    'daemonsets',
    'configmaps',
    'services',
    'clusterroles',
    'clusterrolebindings',
  ];
  return {
    double,
    controller,
    connection,
    dns: new StubDns(),
    objects: () =>
      plurals.flatMap((plural) =>
        double.store.list(plural).map(({ text }) => {
          const { metadata, status: _, ...rest } = JSON.parse(text) as KubernetesObject;
          const { resourceVersion: _r, generation: _g, managedFields: _m, annotations, ...own } = metadata;
          const { [COUNTED]: _c, ...written } = (annotations ?? {}) as Readonly<Record<string, string>>;
          return { ...own, annotations: written, ...rest };
        }),
      ),
  };
}

function imagesIn({ double }: OpenScene, plural = 'deployments'): readonly string[] {
  const [stored] = double.store.list(plural);
  const found = [...(stored?.text ?? '').matchAll(/"image":"([^"]+)"/g)];
  return found.map(([, image = '']) => image);
}

describe('portolan swap', () => {
  it.each([
    ['coredns', kubeadmCoreDns(), 'kube-dns', ['portolan-coredns']],
    [
      'kube-dns',
      addonKubeDns(),
      'kube-dns',
      ['portolan-kube-dns', 'portolan-dnsmasq-nanny', 'portolan-sidecar'],
    ],
    ['node-cache', addonNodeLocalDns(), 'kube-dns-upstream', ['portolan-node-cache']],
  ] as const)(
    'puts our images in the place of %s, and back leaves all objects as they were',
    async (like, objects, service, names) => {
      const scene = await openScene(objects, service);
      const before = JSON.stringify(scene.objects());
      const plural = like === 'node-cache' ? 'daemonsets' : 'deployments';
      const { outcome, elapsed } = await runSwap(scene, { like, image: IMAGE, apply: true, watch: '60s' });
      expect(outcome).toBe('swapped');
      expect(imagesIn(scene, plural)).toEqual(names.map((name) => `registry.example/${name}:0.2.0`));
      // It watched for all of its time.
      expect(elapsed).toBeGreaterThanOrEqual(60_000);
      expect(scene.dns.asked).toBeGreaterThan(50);
      expect((await runSwap(scene, { like, back: true, apply: true })).outcome).toBe('back');
      expect(JSON.stringify(scene.objects())).toBe(before);
      const verbs = new Set(scene.double.requests.map(({ verb }) => verb));
      expect([...verbs].toSorted()).toEqual(['get', 'list', 'patch']);
    },
  );

  it('restores any spec octet by octet, and what others changed meanwhile stays', async () => {
    const word = fc.stringMatching(/^[a-z]([a-z0-9-]{0,8}[a-z0-9])?$/);
    const further = fc.record({
      labels: fc.dictionary(word, word, { maxKeys: 3 }),
      annotations: fc.dictionary(word, word, { maxKeys: 3 }),
      image: fc.tuple(word, word).map(([repository, tag]) => `${repository}/dns:${tag}`),
      replicas: fc.integer({ min: 1, max: 9 }),
      sidecars: fc.uniqueArray(
        word.filter((name) => name !== 'coredns'),
        { maxLength: 2 },
      ),
      isFirst: fc.boolean(),
      later: fc.dictionary(word, word, { maxKeys: 2 }),
    });
    await fc.assert(
      fc.asyncProperty(
        further,
        async ({ labels, annotations, image, replicas, sidecars, isFirst, later }) => {
          const objects = structuredClone(kubeadmCoreDns(image)) as unknown as {
            metadata: Record<string, unknown>;
            spec: { replicas: number; template: { spec: { containers: object[] } } };
            status: Record<string, number>;
          }[];
          const [workload] = objects;
          if (workload === undefined) throw new Error('no Deployment');
          Object.assign(workload.metadata, {
            labels,
            ...(Object.keys(annotations).length > 0 && { annotations }),
          });
          workload.spec.replicas = replicas;
          workload.status = {
            observedGeneration: 1,
            replicas,
            updatedReplicas: replicas,
            availableReplicas: replicas,
          };
          const { spec } = workload.spec.template;
          const others = sidecars.map((name) => ({ name, image: `${name}:1` }));
          spec.containers = isFirst ? [...spec.containers, ...others] : [...others, ...spec.containers];
          const scene = await openScene(objects as unknown as KubernetesObject[]);
          const flags = { ...COREDNS, watch: '3s' };
          expect((await runSwap(scene, flags)).outcome).toBe('swapped');
          const [held] = scene.double.store.list('deployments');
          if (held === undefined) throw new Error('no Deployment');
          const { metadata } = held.object;
          scene.double.put({ ...held.object, metadata: { ...metadata, labels: { ...labels, ...later } } });
          expect((await runSwap(scene, BACK)).outcome).toBe('back');
          const [after] = scene.double.store.list('deployments');
          expect(JSON.stringify(after?.object['spec'])).toBe(JSON.stringify(workload.spec));
          expect(after?.object.metadata['labels']).toEqual({ ...labels, ...later });
          expect(after?.object.metadata['annotations'] ?? {}).toEqual(annotations);
          for (const end of ends.splice(0).toReversed()) await end();
        },
      ),
      { numRuns: 25 },
    );
  });

  it('changes nothing without --apply, and has the server check it', async () => {
    const scene = await openScene(kubeadmCoreDns());
    const before = JSON.stringify(scene.double.store.list('deployments'));
    const { outcome, lines } = await runSwap(scene, { like: 'coredns', image: IMAGE });
    expect(outcome).toBe('checked');
    expect(lines[0]).toBe(
      '  coredns: registry.k8s.io/coredns/coredns:v1.11.3 -> registry.example/portolan-coredns:0.2.0',
    );
    expect(JSON.stringify(scene.double.store.list('deployments'))).toBe(before);
    const patches = scene.double.requests.filter(({ verb }) => verb === 'patch');
    expect(patches.map(({ query }) => query.get('dryRun'))).toEqual(['All']);
  });

  it.each<[string, RegExp, (scene: OpenScene) => void]>([
    [
      'DNS stops answering',
      /Failed: the DNS of the cluster did not answer/,
      ({ dns }) => {
        dns.fails = (asked) => asked > 20;
      },
    ],
    [
      'the rollout does not progress',
      /Failed: ReplicaSet "coredns-x" has timed out/,
      ({ controller }) => {
        controller.behaviour = 'never progresses';
      },
    ],
    [
      'the rollout is not done in time',
      /Failed: not rolled out within 1m: the controller has not seen/,
      ({ controller }) => {
        controller.behaviour = 'is slow';
      },
    ],
    [
      'no endpoint is ready',
      /Failed: Service kube-dns has no ready endpoint/,
      ({ double, dns }) => {
        dns.fails = (asked) => {
          if (asked === 5) double.put(slice('kube-dns', false));
          return false;
        };
      },
    ],
  ])('rolls back if %s', async (_, words, prepare) => {
    const scene = await openScene(kubeadmCoreDns());
    const before = JSON.stringify(scene.objects());
    prepare(scene);
    const { outcome, lines } = await runSwap(scene, COREDNS);
    expect(lines.join('\n')).toMatch(words);
    expect(outcome).toBe('rolled back');
    expect(JSON.stringify(scene.objects())).toBe(before);
  });

  it.each<[string, object, readonly KubernetesObject[], string]>([
    [
      'an image that cannot be pulled',
      {
        containerStatuses: [
          {
            name: 'coredns',
            state: { waiting: { reason: 'ErrImagePull', message: 'failed to pull\n image: not found' } },
          },
        ],
      },
      [],
      '  pod coredns-new: container coredns: ErrImagePull: failed to pull image: not found',
    ],
    [
      'a container that ends',
      {
        containerStatuses: [
          {
            name: 'coredns',
            state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 10s' } },
            lastState: { terminated: { reason: 'Error', exitCode: 1, message: 'plugin/nosuch' } },
          },
        ],
      },
      [],
      '  pod coredns-new: container coredns: CrashLoopBackOff: back-off 10s; before: Error (exit code 1): plugin/nosuch',
    ],
    [
      'no room on any node',
      {
        conditions: [
          {
            type: 'PodScheduled',
            status: 'False',
            reason: 'Unschedulable',
            message: '0/1 nodes are available',
          },
        ],
      },
      [],
      '  pod coredns-new: Unschedulable: 0/1 nodes are available',
    ],
    [
      'a volume that cannot be mounted',
      { containerStatuses: [{ name: 'coredns', state: { waiting: { reason: 'ContainerCreating' } } }] },
      [
        {
          kind: 'Event',
          metadata: { name: 'coredns-new.1', namespace: 'kube-system' },
          involvedObject: { kind: 'Pod', name: 'coredns-new' },
          type: 'Warning',
          reason: 'FailedMount',
          message: 'configmap "coredns" not found',
        },
      ],
      '  pod coredns-new: FailedMount: configmap "coredns" not found',
    ],
  ])('names the cause if new pods are not ready: %s', async (_, status, events, line) => {
    const scene = await openScene(kubeadmCoreDns());
    scene.controller.behaviour = 'never progresses';
    const pod = (name: string, image: string, more: object): KubernetesObject => ({
      kind: 'Pod',
      metadata: { name, namespace: 'kube-system', labels: { 'k8s-app': 'kube-dns' } },
      spec: { containers: [{ name: 'coredns', image }] },
      status: more,
    });
    const ready = { conditions: [{ type: 'Ready', status: 'True' }] };
    const ours = 'registry.example/portolan-coredns:0.2.0';
    scene.double.put(pod('coredns-old', 'registry.k8s.io/coredns/coredns:v1.11.3', status));
    scene.double.put(pod('coredns-ready', ours, { ...status, ...ready }));
    scene.double.put(pod('coredns-new', ours, status));
    for (const event of events) scene.double.put(event);
    const { outcome, lines } = await runSwap(scene, COREDNS);
    expect(lines.filter((each) => each.startsWith('  pod '))).toEqual([line]);
    expect(outcome).toBe('rolled back');
  });

  it('goes on after single lost questions, and while the API server is away', async () => {
    const scene = await openScene(kubeadmCoreDns());
    scene.dns.fails = (asked) => asked % 3 !== 0 && asked > 3;
    const fault = { kind: 'status', status: 503 } as const;
    scene.double.faults.add({ verb: 'list', plural: 'endpointslices', times: 6, fault });
    const { outcome, lines } = await runSwap(scene, COREDNS);
    expect(lines.filter((line) => line.includes('the API server cannot be asked'))).toHaveLength(6);
    expect(outcome).toBe('swapped');
  });

  it('rolls back when it is interrupted', async () => {
    const scene = await openScene(kubeadmCoreDns());
    const before = JSON.stringify(scene.objects());
    const interrupted = new AbortController();
    scene.dns.fails = (asked) => {
      if (asked === 10) interrupted.abort();
      return false;
    };
    const { outcome, lines } = await runSwap({ ...scene, signal: interrupted.signal }, COREDNS);
    expect(lines).toContain('Failed: interrupted. Rolling back.');
    expect(outcome).toBe('rolled back');
    expect(JSON.stringify(scene.objects())).toBe(before);
  });

  it('refuses what it could not undo', async () => {
    const scene = await openScene(kubeadmCoreDns());
    await expect(runSwap(scene, BACK)).rejects.toThrow('nothing to go back to');
    scene.dns.fails = () => true;
    await expect(runSwap(scene, COREDNS)).rejects.toThrow('before anything was changed');
    expect(scene.double.requests.filter(({ verb }) => verb === 'patch')).toEqual([]);
    scene.dns.fails = () => false;
    await runSwap(scene, COREDNS);
    await expect(runSwap(scene, COREDNS)).rejects.toThrow('it is swapped already');
    const [held] = scene.double.store.list('deployments');
    const text = JSON.stringify(held?.object).replace(
      '"image":"registry.example/portolan-coredns:0.2.0"',
      '"image":"x:1"',
    );
    scene.double.put(JSON.parse(text) as KubernetesObject);
    await expect(runSwap(scene, BACK)).rejects.toThrow('the images were changed after the swap: coredns=x:1');
    const digest = { ...COREDNS, like: 'kube-dns', image: 'r/portolan@sha256:00' };
    const other = await openScene(addonKubeDns());
    await expect(runSwap(other, digest)).rejects.toThrow('A digest is of one image');
  });

  it('takes what kubectl has undone as undone', async () => {
    const scene = await openScene(kubeadmCoreDns());
    const before = JSON.stringify(scene.objects());
    const undo = () => {
      const [held] = scene.double.store.list('deployments');
      const former = JSON.stringify(kubeadmCoreDns()[0]?.['spec']);
      if (held !== undefined) scene.double.put({ ...held.object, spec: JSON.parse(former) as object });
    };
    await runSwap(scene, COREDNS);
    undo();
    expect((await runSwap(scene, COREDNS)).outcome).toBe('swapped');
    undo();
    expect((await runSwap(scene, BACK)).outcome).toBe('back');
    expect(JSON.stringify(scene.objects())).toBe(before);
  });

  it('runs as a command: the preflight, the way back first, then the swap and the way back', async () => {
    const scene = await openScene(kubeadmCoreDns());
    const { port } = await servePortolan(['--manifests', 'examples/cluster']);
    const kubeconfig = await writeKubeconfig(folder, scene.double);
    const where = ['--like=coredns', `--kubeconfig=${kubeconfig}`, `--server=127.0.0.1:${port}`];
    const run = async (...words: readonly string[]) => {
      const program = runPortolan(['swap', ...where, '--question=cart.shop.svc.cluster.local', ...words]);
      const { code } = await program.exit;
      return { code, output: program.output, errors: program.errors };
    };
    const swapped = await run(`--image=${IMAGE}`, '--apply', '--watch=1s');
    expect(swapped).toMatchObject({ code: 0, errors: '' });
    expect(swapped.output).toMatch(
      /^Way back: portolan swap --back --apply --like=coredns --kubeconfig=.*\n.*kubectl -n kube-system rollout undo deployment\/coredns\n/,
    );
    await waitUntil('our image is set', () =>
      imagesIn(scene).includes('registry.example/portolan-coredns:0.2.0'),
    );
    expect(await run('--back', '--apply')).toMatchObject({ code: 0 });
    expect(imagesIn(scene)).toEqual(['registry.k8s.io/coredns/coredns:v1.11.3']);
    scene.double.delete('ClusterRoleBinding', 'system:coredns');
    const refused = await run(`--image=${IMAGE}`);
    expect(refused.code).toBe(1);
    expect(refused.output).toContain('FIRST  permissions');
    expect(await run(`--image=${IMAGE}`, '--ignore=permissions')).toMatchObject({ code: 0 });
  });
});
