/**
 * The manifests of the autoscaler: ours, and the addon of Kubernetes with our image.
 */
import { readFileSync } from 'node:fs';
import { resolveAlias } from '@portolan/cli/program-aliases.ts';
import { printManifests } from '@portolan/cli/tools/print-manifests.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { readKustomization } from '@portolan/ops/manifests/layout-files.ts';
import { planFromManifestsFlags } from '@portolan/ops/manifests/settings/manifests-flags.ts';
import { readAutoscalerFlags } from '@portolan/server/settings/autoscaler/autoscaler-flags.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { ApiServerDouble } from '../api-server/api-server.ts';
import { findUnused, formatUser, readRules } from '../api-server/rbac.ts';
import { readReplicas } from '../api-server/scale.ts';
import { ADDON_ACCOUNT, ADDON_COMMAND, ADDON_RULES } from '../autoscaler/addon.ts';
import { nodes, scalable } from '../autoscaler/world.ts';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';
import { type DeploymentManifest, IMAGE, parseManifests } from './manifests.ts';
import { type Kustomization, patchDeployment, replaceFields } from './patches.ts';

const texts = readKustomization('deploy/autoscaler').map(({ text }) => text);
const deployment = texts
  .flatMap(parseManifests)
  .find((object): object is DeploymentManifest => object.kind === 'Deployment');
const [container] = deployment?.spec.template.spec.containers ?? [];
const USER = formatUser(ADDON_ACCOUNT);

afterEach(endAllPrograms);

async function startDouble(
  rules: ReturnType<typeof readRules>,
  target = 'kube-dns',
): Promise<ApiServerDouble> {
  return await ApiServerDouble.start({
    access: { tokens: { secret: USER }, rules: { [USER]: rules } },
    objects: [...nodes(17), scalable(target, 1)],
    // Credentials are sent over TLS only.
    tls: 'server',
  });
}

function makeKubeconfig(double: ApiServerDouble): string {
  return JSON.stringify({
    'current-context': 'a',
    clusters: [{ name: 'a', cluster: { server: double.url, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'a', user: { token: 'secret' } }],
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
  });
}

/** Runs the program with a token, as in a pod. */
async function runAs(double: ApiServerDouble, words: readonly string[]) {
  const path = await (await makeTemporaryFolder()).write('kubeconfig', makeKubeconfig(double));
  return runPortolan([...words, `--kubecfg-file=${path}`, '--healthz-port=0']);
}

const replicas = (double: ApiServerDouble, target = 'kube-dns'): number | undefined => {
  const stored = double.store.get('deployments', `kube-system/${target}`);
  return stored && readReplicas(stored.object);
};

describe('deploy/autoscaler', () => {
  it('runs the image of this version, with flags that there are', () => {
    expect(container?.image).toBe(IMAGE);
    const [command, ...words] = container?.args ?? [];
    expect(command).toBe('autoscaler');
    expect(readAutoscalerFlags(words, {}).kind).toBe('good');
  });

  it('gives the rights that are used, and no others', async () => {
    const rules = readRules(texts, ADDON_ACCOUNT);
    const double = await startDouble(rules);
    const program = await runAs(double, container?.args ?? []);
    await program.heard('scaled');
    expect(replicas(double)).toBe(2);
    const unused = () => findUnused(rules, double.requests);
    await expect.poll(unused).toEqual([]);
    expect(double.requests.filter(({ status }) => status === 403)).toEqual([]);
    await double.stop();
  });
});

describe('portolan manifests --layout=autoscaler', () => {
  const print = (like: 'kube-dns' | 'coredns') => {
    const checked = planFromManifestsFlags({ layout: 'autoscaler', like, image: IMAGE }, '1');
    if (checked.kind === 'bad') throw new Error(JSON.stringify(checked.problems));
    return printManifests(checked.value);
  };
  const scaleRule = (text: string) =>
    readRules([text], ADDON_ACCOUNT).find(({ resources }) => resources.includes('deployments/scale'));

  it('is deploy/autoscaler', () => {
    expect(parseManifests(print('kube-dns'))).toEqual(texts.flatMap(parseManifests));
  });

  it('scales the Deployment of CoreDNS with --like=coredns, and may scale no other', () => {
    const text = print('coredns');
    const printed = parseManifests(text).find(
      (object): object is DeploymentManifest => object.kind === 'Deployment',
    );
    expect(printed?.spec.template.spec.containers[0]?.args).toContain('--target=deployment/coredns');
    expect(text).not.toContain('deployment/kube-dns');
    expect(scaleRule(text)?.names).toEqual(['coredns']);
    expect(scaleRule(print('kube-dns'))?.names).toEqual(['kube-dns']);
  });
});

/** What kustomize makes of a layout with the component that lets it scale itself, each object as a text. */
function buildScaled(layout: 'portolan' | 'coredns'): readonly string[] {
  const folder = 'deploy/components/autoscale';
  // A file of our own.
  const component = parse(readFileSync(`${folder}/kustomization.yaml`, 'utf8')) as Kustomization;
  const role = readFileSync(`${folder}/role.yaml`, 'utf8');
  const objects = [...readKustomization(`deploy/${layout}`).map(({ text }) => text), role]
    .flatMap(parseManifests)
    .map((object) =>
      object.kind === 'Deployment' ? patchDeployment(object as DeploymentManifest, component) : object,
    );
  return replaceFields(objects, component).map((object) => stringify(object));
}

describe('deploy/components/autoscale', () => {
  it.each(['portolan', 'coredns'] as const)('has %s scale its own Deployment, and no other', (layout) => {
    const built = buildScaled(layout);
    const name = layout === 'portolan' ? 'kube-dns' : layout;
    const [scaled] = built.flatMap(parseManifests).filter(({ kind }) => kind === 'Deployment');
    expect(scaled?.metadata.name).toBe(name);
    const [server] = (scaled as DeploymentManifest).spec.template.spec.containers;
    expect(server?.args.at(-1)).toBe(`--autoscale=deployment/${name}`);
    const rules = readRules(built, { namespace: 'kube-system', name });
    expect(rules.find(({ resources }) => resources.includes('deployments/scale'))?.names).toEqual([name]);
    expect(rules.find(({ resources }) => resources.includes('leases'))).toBeDefined();
  });

  it('gives the rights that are used by a server that scales itself, and no others', async () => {
    const server = { namespace: 'kube-system', name: 'kube-dns' };
    const own = readRules([readFileSync('deploy/components/autoscale/role.yaml', 'utf8')], server);
    const layout = readKustomization('deploy/portolan').map(({ text }) => text);
    const double = await startDouble([...own, ...readRules(layout, server)]);
    const flags = [
      '--dialect=kube-dns',
      '--upstream=none',
      '--dns-bind-address=127.0.0.1',
      '--log-format=json',
    ];
    const dns = `--dns-port=${await findFreePort()}`;
    const program = await runAs(double, ['serve', ...flags, dns, '--autoscale=deployment/kube-dns']);
    await program.heard('scaled');
    expect(replicas(double)).toBe(2);
    const { health } = await program.heard('serving');
    const metrics = async () => await (await fetch(`${health}/metrics`)).text();
    await expect.poll(metrics).toContain('portolan_autoscaler_wanted_replicas 2\n');
    expect(await metrics()).toContain('portolan_autoscaler_leader 1\n');
    const unused = () => findUnused(own, double.requests);
    // The Lease is renewed, and given back at the end.
    await expect.poll(unused).toEqual([]);
    program.signal('SIGTERM');
    await program.exit;
    const lease = double.store.get('leases', 'kube-system/kube-dns-autoscaler');
    expect(lease?.object['spec']).toMatchObject({ holderIdentity: '' });
    expect(double.requests.filter(({ status }) => status === 403)).toEqual([]);
    await double.stop();
  });
});

describe('coredns --autoscale', () => {
  it('scales, and has its metrics among those of the Corefile', async () => {
    const rules = readRules(buildScaled('coredns'), { namespace: 'kube-system', name: 'coredns' });
    const double = await startDouble(rules, 'coredns');
    const folder = await makeTemporaryFolder();
    const kubeconfig = await folder.write('kubeconfig', makeKubeconfig(double));
    const dns = await findFreePort();
    const metrics = await findFreePort();
    const corefile = await folder.write(
      'Corefile',
      `.:${dns} {\n bind 127.0.0.1\n prometheus 127.0.0.1:${metrics}\n whoami\n}\n`,
    );
    const program = runPortolan(['coredns', '-conf', corefile, '--autoscale=deployment/coredns'], {
      environment: { KUBECONFIG: kubeconfig },
    });
    await expect.poll(() => replicas(double, 'coredns')).toBe(2);
    const read = async () => await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
    await expect.poll(read).toContain('portolan_autoscaler_wanted_replicas 2\n');
    expect(await read()).toContain('coredns_build_info{');
    program.signal('SIGTERM');
    expect(await program.exit).toEqual({ code: 0, signal: null });
    const lease = double.store.get('leases', 'kube-system/kube-dns-autoscaler');
    expect(lease?.object['spec']).toMatchObject({ holderIdentity: '' });
    expect(double.requests.filter(({ status }) => status === 403)).toEqual([]);
    await double.stop();
  });
});

describe('the addon of Kubernetes with our image', () => {
  const [entry = '', ...words] = ADDON_COMMAND;

  it('finds its command in the image', () => {
    expect(resolveAlias(entry, words)).toEqual(['autoscaler', ...words]);
    expect(readFileSync('scripts/image-layers.sh', 'utf8')).toMatch(
      /for name in [^;]*\bcluster-proportional-autoscaler; do/,
    );
  });

  it('scales with the rights that it has', async () => {
    const double = await startDouble(ADDON_RULES);
    const program = await runAs(double, resolveAlias(entry, words));
    await program.heard('scaled');
    expect(replicas(double)).toBe(2);
    const { port } = await program.heard('started');
    const lastPoll = async () => (await fetch(`http://127.0.0.1:${port}/last-poll`)).status;
    await expect.poll(lastPoll).toBe(200);
    await double.stop();
  });
});
