/**
 * The built command `portolan manifests`, from any folder.
 */

import type { Layout } from '@portolan/ops/manifests/settings/manifests-flags.ts';
import { describe, expect, it } from 'vitest';
import { runPortolan } from '../support/portolan.ts';
import {
  type DeploymentManifest,
  FOLDERS,
  IMAGE,
  type Manifest,
  parseManifests,
  readLayout,
} from './manifests.ts';

interface Ended {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

/** With the image of this version, unless another one is given. */
async function run(...args: readonly string[]): Promise<Ended> {
  return await runExactly('--image=', ...args);
}

async function runExactly(...args: readonly string[]): Promise<Ended> {
  // From a folder outside the project: the files come with the program.
  const program = runPortolan(['manifests', ...args], { through: ['env', '--chdir=/'] });
  const { code } = await program.exit;
  return { code, output: program.output, errors: program.errors };
}

const LAYOUTS = Object.keys(FOLDERS) as readonly Layout[];

const DIGEST = `sha256:${'0'.repeat(64)}`;

describe('portolan manifests', () => {
  it.each(LAYOUTS)('prints what the kustomize base of %s has', async (layout) => {
    const { code, output } = await run(`--layout=${layout}`, '--with-config-map');
    expect(code).toBe(0);
    expect(parseManifests(output)).toEqual(readLayout(layout));
  });

  it.each(LAYOUTS)('prints no ConfigMap of %s unless it is told to, and says so', async (layout) => {
    const { output } = await run(`--layout=${layout}`);
    const isConfigMap = ({ kind }: Manifest) => kind === 'ConfigMap';
    expect(parseManifests(output)).toEqual(readLayout(layout).filter((object) => !isConfigMap(object)));
    const [owned] = readLayout(layout).filter(isConfigMap);
    const note = `# Not printed, since an apply would replace the configuration of the cluster: ConfigMap kube-system/${owned?.metadata.name}.`;
    if (owned === undefined) expect(output).not.toContain('# Not printed');
    else expect(output).toContain(note);
  });

  it('prints nothing without an image', async () => {
    const { code, output, errors } = await runExactly('--like=coredns');
    expect({ code, output }).toEqual({ code: 2, output: '' });
    expect(errors).toContain('--image: not given');
    expect(errors).toContain(`--image= stands for ${IMAGE}, which no registry has.`);
  });

  it('says on standard error which image an empty one is', async () => {
    expect((await run()).errors).toContain(`--image is empty: ${IMAGE}, which no registry has.`);
    expect((await run('--image=registry.example/portolan:1.0.0')).errors).toBe('');
  });

  it('names in its head what an apply would replace, and how to look at it before', async () => {
    const { output } = await run('--like=coredns', '--replicas=2');
    const head = output.split('---')[0];
    const command = `portolan manifests --layout=coredns --dns-server-ip=10.96.0.10 --domain=cluster.local --image=${IMAGE} --replicas=2`;
    expect(head).toContain(`#   ${command} | kubectl diff -f -\n`);
    expect(head).toContain('kubectl delete -f would also delete Service kube-system/kube-dns');
    expect((await run('--layout=node-local')).output).not.toContain('kubectl delete');
    for (const { kind, metadata } of parseManifests(output))
      expect(head).toMatch(new RegExp(`^#   ${kind} (kube-system/)?${metadata.name}$`, 'm'));
    expect(parseManifests(output).find(({ kind }) => kind === 'Deployment')).toMatchObject({
      spec: { replicas: 2 },
    });
  });

  it('prints the manifests of CoreDNS by --like', async () => {
    expect((await run('--like=coredns')).output).toBe((await run('--layout=coredns')).output);
  });

  it('fills in address and domain in Corefiles and in the addresses of a node', async () => {
    const flags = ['--dns-server-ip=10.0.0.10', '--domain=k8s.example'];
    const { output } = await run('--layout=node-local', '--with-config-map', ...flags);
    expect(output).toContain('k8s.example:53 {');
    expect(output).toContain('169.254.20.10,10.0.0.10');
    expect(output).toContain('clusterIP: None');
    const coredns = await run('--like=coredns', '--with-config-map', ...flags);
    expect(coredns.output).toContain('kubernetes k8s.example in-addr.arpa ip6.arpa {');
    expect(output + coredns.output).not.toMatch(/cluster\.local|10\.96\.0\.10/);
  });

  it('fills in the images of parts, and leaves those of others', async () => {
    const image = 'registry.example:5000/dns/portolan:9.9.9';
    const { output } = await run('--layout=skydns', '--image', image, '--domain=k8s.example');
    const images = [...output.matchAll(/image: (\S+)/g)].map(([, each]) => each);
    const part = 'registry.example:5000/dns/portolan-exechealthz:9.9.9';
    expect(images).toEqual([expect.stringMatching(/^quay\.io\/coreos\/etcd:/), image, image, part]);
    expect(output).not.toContain('cluster.local');
  });

  it.each([
    ['registry.example/portolan:9.9.9', 'registry.example/portolan-node-cache:9.9.9'],
    ['registry.example/portolan-node-cache:9.9.9', 'registry.example/portolan-node-cache:9.9.9'],
    [`registry.example/portolan-node-cache@${DIGEST}`, `registry.example/portolan-node-cache@${DIGEST}`],
  ])("fills in the image of a node's cache: %s", async (image, expected) => {
    expect((await run('--layout=node-local', '--image', image)).output).toContain(`image: ${expected}\n`);
  });

  it('prints the same each time, with its own flags in the first line', async () => {
    const first = await run();
    const second = await run();
    expect(first.output).toBe(second.output);
    expect(first.output.split('\n')[0]).toBe(
      '# Printed by: portolan manifests --layout=one --dns-server-ip=10.96.0.10 --domain=cluster.local ' +
        `--image=${IMAGE}`,
    );
    expect(first.output.match(/^---$/gm)).toHaveLength(parseManifests(first.output).length);
  });

  it('fills in address, domain and image, wherever they stand', async () => {
    const image = 'registry.example:5000/dns/portolan:9.9.9';
    const flags = ['--dns-server-ip', 'fd00::10', '--domain', 'k8s.example', '--image', image];
    const { output } = await run('--layout', 'three', ...flags);
    const objects = parseManifests(output);
    expect(objects.find(({ kind }) => kind === 'Service')).toMatchObject({ spec: { clusterIP: 'fd00::10' } });
    const deployment = objects.find((object): object is DeploymentManifest => object.kind === 'Deployment');
    const containers = deployment?.spec.template.spec.containers ?? [];
    expect(containers.map((container) => container.image)).toEqual([image, image, image]);
    const args = containers
      .flatMap((container) => container.args)
      .filter((arg) => arg.includes('k8s.example'));
    expect(args).toEqual([
      '--domain=k8s.example.',
      '--server=/k8s.example/127.0.0.1#10053',
      '--probe=kubedns,127.0.0.1:10053,kubernetes.default.svc.k8s.example,5,SRV',
      '--probe=dnsmasq,127.0.0.1:53,kubernetes.default.svc.k8s.example,5,A',
    ]);
    expect(JSON.stringify(objects)).not.toMatch(/cluster\.local|10\.96\.0\.10/);
  });

  it('refuses wrong values, all together, with exit code 2 and nothing to apply', async () => {
    const { code, output, errors } = await run('--dns-server-ip=10.96', '--image=portolan:latest');
    expect({ code, output }).toEqual({ code: 2, output: '' });
    expect(errors).toMatch(/--dns-server-ip: not an IP address: "10.96"/);
    expect(errors).toMatch(/--image: an image without a version: "portolan:latest"/);
  });

  it('refuses unknown flags', async () => {
    const { code, errors } = await runExactly('--imgae', 'x:1');
    expect(code).toBe(2);
    expect(errors).toContain('Did you mean --image?');
  });
});
