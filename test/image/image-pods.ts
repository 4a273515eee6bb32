/**
 * Every image as a manifest runs it: those of the originals, and ours. Each pod has a network of its own, and each container the user,
 * capabilities, root, limits and mounts of its manifest.
 */
import { cp, mkdir, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { TemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import type { ImageLayers } from '@portolan/ops/image/image-layers.ts';
import { IMAGE_TARGETS } from '@portolan/ops/image/settings/image-flags.ts';
import type { Layout } from '@portolan/ops/manifests/settings/manifests-flags.ts';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { tlsFixturePath } from '../api-server/tls-fixture.ts';
import { readLayout } from '../deploy/manifests.ts';
import { ORIGINALS } from '../originals/cases.ts';
import { findImageTarget, type OriginalManifest, readOriginal, toManifest } from '../originals/original.ts';
import { NAME_SERVER, OriginalPod } from '../originals/original-pod.ts';
import { type ManifestCase, type OriginalsSetting, tryManifest } from '../originals/try-original.ts';
import { bundleDouble } from '../support/double-process.ts';
import { DivertedNode } from './diverted-node.ts';
import { unpackImage } from './unpack-image.ts';

export interface PodsSetting {
  readonly folder: TemporaryFolder;
  readonly layers: ImageLayers;
}

const MINUTES = 60_000;
/** What the name server outside the pod says for every name. */
const OUTSIDE = '192.0.2.53';
const ASKS = [
  ['kubernetes.default.svc.cluster.local.', '10.96.0.1'],
  ['outside.example.', OUTSIDE],
] as const;

const ofLayout = (layout: Layout): OriginalManifest => toManifest([...readLayout(layout)] as never, layout);

function ofOriginal(id: string): ManifestCase {
  const original = ORIGINALS.find((each) => each.id === id);
  if (original === undefined) throw new Error(`no original: ${id}`);
  return { ...original, manifest: readOriginal(original.manifest) };
}

/** Plain dnsmasq of Kubernetes 1.5. */
const DNSMASQ: OriginalManifest = {
  spec: {
    containers: [
      {
        name: 'dnsmasq',
        image: 'gcr.io/google_containers/kube-dnsmasq-amd64:1.4',
        args: ['--cache-size=1000', '--no-negcache', '--address=/here.example/192.0.2.1', '--log-facility=-'],
      },
    ],
  },
  configMaps: new Map(),
  services: new Map(),
  source: 'Kubernetes 1.5',
};

/** All images but that of the node's cache, which has a test of its own. */
const PODS: readonly ManifestCase[] = [
  { id: 'one', manifest: ofLayout('one'), asks: ASKS },
  { id: 'dnsmasq', manifest: DNSMASQ, asks: [['here.example.', '192.0.2.1'], ASKS[1]] },
  ...['kubeadm', 'kube-dns', 'autoscaler', 'skydns'].map(ofOriginal),
];
/** The API server gives the Service of the cluster's DNS an address. */
const NODE_CACHE = { ...ofLayout('node-local'), services: new Map([['kube-dns-upstream', NAME_SERVER]]) };

/** @param setting known once the layers are made */
export function definePods(setting: () => PodsSetting): void {
  describe('a pod of each image', () => {
    let originals: OriginalsSetting;

    beforeAll(async () => {
      const { folder, layers } = setting();
      await folder.write('account/token', 'portolan-test-token');
      await cp(tlsFixturePath('authority.crt'), `${folder.path}/account/ca.crt`);
      originals = {
        folder,
        loadImage: (target) => unpackImage(layers, target, `${folder.path}/targets/${target}`),
        account: `${folder.path}/account`,
        apiServer: fileURLToPath(await bundleDouble()),
      };
    });

    afterEach(() => rm(`${setting().folder.path}/targets`, { recursive: true, force: true }));

    it('is among these pods', () => {
      const containers = [...PODS.map(({ manifest }) => manifest), NODE_CACHE].flatMap(
        ({ spec }) => spec.containers,
      );
      const targets = containers.map(findImageTarget).filter((target) => target !== undefined);
      expect(new Set(targets)).toEqual(new Set(IMAGE_TARGETS));
    });

    it.each(PODS.map((pod) => [pod.id, pod] as const))(
      'answers as its manifest says: %s',
      async (_id, pod) => {
        const used = await tryManifest(pod, originals);
        expect(used.length).toBeGreaterThan(0);
      },
      5 * MINUTES,
    );

    it(
      "of a node's cache diverts the packets of another pod, and answers them",
      async () => {
        const { folder, loadImage, account, apiServer } = originals;
        await mkdir(`${folder.path}/node`);
        const pod = await OriginalPod.start({
          folder: `${folder.path}/node`,
          id: `portolan-test-${process.pid}-node`,
          memory: {},
          loadImage,
          account,
          manifest: NODE_CACHE,
          apiServer: [process.execPath, apiServer, '--tls'],
        });
        let node: DivertedNode | undefined;
        try {
          node = await DivertedNode.create(pod);
          await pod.passesProbes();
          await node.hasRules();
          // The nft of the image warns that it knows no terminal, which is no failure.
          expect(pod.readOutput('node-cache')).not.toContain('nft -i: Cannot read termcap database');
          for (const place of node.places) expect(await node.ask(place, 'outside.example.')).toBe(OUTSIDE);
          // Nobody else can answer now: the Service leads there too.
          await pod.connect(false);
          for (const place of node.places) expect(await node.ask(place, 'outside.example.')).toBe(OUTSIDE);
          await pod.connect(true);
          const { lost, silence } = await node.killServer(await pod.firstProcess('node-cache'));
          console.info(`a node's cache was killed: ${lost} queries lost, none answered for ${silence} ms`);
          expect(await node.tables()).toEqual([]);
        } finally {
          node?.end();
          await pod.end();
        }
      },
      5 * MINUTES,
    );
  });
}
