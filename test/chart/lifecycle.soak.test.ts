/**
 * What each step of the chart's README does to a cluster, by helm itself: to the Service of the DNS, its selector, the pods behind it, and the
 * Corefile of CoreDNS. The cluster is the API server double, with controllers that make pods; kubectl is a stand-in.
 */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { expect, it, onTestFinished, vi } from 'vitest';
import { readShellBlocks } from '../docs/shell-blocks.ts';
import { describeWithTool } from '../support/tools.ts';
import { ADDRESS, ChartCluster, COREFILE } from './cluster.ts';

/** Each step is a process or two, on a machine that may be busy. */
vi.setConfig({ testTimeout: 300_000 });

const PAGE = 'deploy/chart/README.md';
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
const IMAGE = `registry.example/portolan:${version}`;
const INSTALL =
  'helm install portolan deploy/chart --namespace kube-system --set image.repository=registry.example/portolan';
const SELECTOR = { 'k8s-app': 'kube-dns' };

/** The shell blocks below a heading of the README, in their order. */
function listShellBlocks(heading: string): readonly string[] {
  const lines = readFileSync(PAGE, 'utf8').split('\n');
  const first = lines.indexOf(`## ${heading}`) + 1;
  expect(first, heading).toBeGreaterThan(0);
  const next = lines.findIndex((line, at) => at > first && line.startsWith('## '));
  return readShellBlocks(PAGE)
    .filter(({ line }) => line > first && (next === -1 || line <= next))
    .map(({ text }) => text);
}

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** A shell whose helm and kubectl speak with the cluster. */
async function openShell(cluster: ChartCluster): Promise<(text: string) => Promise<Ended>> {
  const folder = await makeTemporaryFolder();
  const config = await folder.write('kubeconfig', makeKubeconfig(cluster.double.url));
  const helm = join(
    process.env['PATH']?.split(delimiter).find((place) => existsSync(join(place, 'helm'))) ?? '',
    'helm',
  );
  const node = process.execPath;
  // The double describes no schemas, by which helm would check the objects; test/chart/chart.soak.test.ts does.
  const script = `case $1 in install|upgrade) set -- "$@" --disable-openapi-validation ;; esac\nexec ${helm} "$@"\n`;
  await writeProgram('helm', script);
  await writeProgram('kubectl', `exec ${node} ${resolve('test/chart/kubectl.mjs')} "$@"\n`);
  await writeProgram('portolan', `exec ${node} ${resolve('dist/portolan.js')} "$@"\n`);
  const env = { ...process.env, PATH: `${folder.path}/bin:${process.env['PATH']}`, KUBECONFIG: config };
  const home = { HOME: folder.path, KUBE_URL: cluster.double.url };
  const place = { cwd: folder.path, env: { ...env, ...home } };
  const atChart = (text: string) => text.replaceAll('deploy/chart', resolve('deploy/chart'));
  return async (text) => {
    const shell = spawn('bash', ['-c', `exec 2>&1; set -e\n${atChart(text)}`], place);
    let output = '';
    shell.stdout.setEncoding('utf8').on('data', (part: string) => {
      output += part;
    });
    return await new Promise((done) => shell.on('close', (code) => done({ code, output })));
  };

  async function writeProgram(name: string, text: string): Promise<void> {
    await chmod(await folder.write(`bin/${name}`, `#!/bin/bash\n${text}`), 0o755);
  }
}

const makeKubeconfig = (server: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'double',
    contexts: [{ name: 'double', context: { cluster: 'double', user: 'double' } }],
    clusters: [{ name: 'double', cluster: { server } }],
    users: [{ name: 'double', user: {} }],
  });

interface Scene {
  readonly cluster: ChartCluster;
  /** Runs shell text that must succeed. */
  readonly run: (text: string | undefined) => Promise<string>;
  /** Runs shell text that must fail. */
  readonly refuse: (text: string) => Promise<string>;
}

async function openScene(...start: Parameters<typeof ChartCluster.start>): Promise<Scene> {
  const cluster = await ChartCluster.start(...start);
  onTestFinished(() => cluster.double.stop());
  const shell = await openShell(cluster);
  return {
    cluster,
    async run(text = '') {
      expect(text).not.toBe('');
      const { code, output } = await shell(text);
      expect(code, output).toBe(0);
      return output;
    },
    async refuse(text) {
      const { code, output } = await shell(text);
      expect(code, output).not.toBe(0);
      return output;
    },
  };
}

/** Without comments and indents. */
const extractCommands = (text = ''): string => text.replaceAll(/^# .*\n/gm, '').replaceAll(/^ +/gm, '');

/** Who answers the pods of the cluster, each Deployment once. */
const answering = (cluster: ChartCluster): readonly string[] => [...new Set(cluster.ready())];

const WAYS = ['Beside the DNS that runs', 'Adopt the Service'] as const;

describeWithTool(['helm', 'bash'], 'the ways of the README', () => {
  it.each(WAYS)(
    '%s: at each moment pods are behind the Service, and the way back restores it',
    async (way) => {
      const { cluster, run } = await openScene('coredns');
      const before = [cluster.getSpec('services', 'kube-dns'), cluster.get('configmaps', 'coredns')];
      const objects = cluster.objects();
      const same = () =>
        expect([cluster.getSpec('services', 'kube-dns'), cluster.get('configmaps', 'coredns')]).toEqual(
          before,
        );
      const [install, end] = listShellBlocks(way);
      const [upgrade, back, clean] = listShellBlocks('Upgrade, and go back');

      const notes = await run(install);
      same();
      expect(answering(cluster)).toEqual(['coredns', 'portolan']);
      // What helm prints at the end is what the page says.
      for (const block of [end, back]) expect(extractCommands(notes)).toContain(extractCommands(block));
      expect(cluster.get('configmaps', 'portolan')).toMatchObject({ data: { Corefile: COREFILE } });
      await run(end);
      same();
      expect(answering(cluster)).toEqual(['portolan']);
      await run(upgrade);
      same();
      expect(cluster.ready()).toEqual(['portolan', 'portolan']);
      await run(back);
      same();
      expect(answering(cluster)).toEqual(['coredns']);
      expect(cluster.objects()).toEqual(objects);
      await run(clean);
      same();
      expect(cluster.silences).toEqual([]);
    },
  );

  it('In a cluster without DNS: the Service has the address, and ends with the release', async () => {
    const { cluster, run } = await openScene('none');
    const [install] = listShellBlocks('In a cluster without DNS');
    await run(install);
    expect(cluster.getSpec('services', 'portolan')).toMatchObject({ clusterIP: ADDRESS });
    expect(new Set(cluster.ready('portolan'))).toEqual(new Set(['portolan']));
    await run(listShellBlocks('Upgrade, and go back')[0]);
    expect(cluster.ready('portolan')).toHaveLength(2);
    await run('helm uninstall portolan --namespace kube-system');
    expect(cluster.objects()).toEqual([]);
  });

  it.each(WAYS)('%s: an image that no registry has takes nothing away', async (way) => {
    const { cluster, run, refuse } = await openScene('coredns', [IMAGE]);
    const [install = '', end = ''] = listShellBlocks(way);
    await run(install);
    expect(await refuse(end)).toContain('timed out waiting for the condition');
    expect(answering(cluster)).toEqual(['coredns']);
    await run('helm uninstall portolan --namespace kube-system');
    expect(cluster.ready()).toHaveLength(2);
    expect(cluster.silences).toEqual([]);
  });

  it('an upgrade to an image that no registry has leaves the former pods', async () => {
    const { cluster, run } = await openScene('coredns', [IMAGE.replace(version, '0.2.1')]);
    for (const block of listShellBlocks('Adopt the Service')) await run(block);
    await run(listShellBlocks('Upgrade, and go back')[0]);
    expect(cluster.ready()).toEqual(['portolan', 'portolan']);
    await run('helm rollback portolan --namespace kube-system');
    expect(cluster.ready()).toEqual(['portolan', 'portolan']);
    expect(cluster.getSpec('services', 'kube-dns')).toMatchObject({ selector: SELECTOR, clusterIP: ADDRESS });
    expect(cluster.silences).toEqual([]);
  });
});

const OWN = `kubectl -n kube-system label service kube-dns app.kubernetes.io/managed-by=Helm
kubectl -n kube-system annotate service kube-dns meta.helm.sh/release-name=portolan meta.helm.sh/release-namespace=kube-system\n`;

const NAMED = '--set service.name=kube-dns';
const REFUSED: readonly (readonly [flags: string, message: string])[] = [
  ['', 'Service kube-system/kube-dns would send its queries to these pods as well'],
  [`--set service.clusterIP=${ADDRESS}`, `the address ${ADDRESS} belongs to Service kube-system/kube-dns`],
  [NAMED, 'would change before pods with its labels are ready'],
  ['--set service.adopt=true', 'service.name is empty'],
  [`--set service.adopt=true ${NAMED} --set service.create=false`, 'leave out one of the two'],
  ['--set service.adopt=true --set service.name=dns', 'no such Service: kube-system/dns'],
  ['--set service.create=false --set service.name=dns', 'no such Service: kube-system/dns'],
  [
    `--set service.adopt=true ${NAMED} --set service.selector.a=b --set podLabels.a=b`,
    'would change: from {"k8s-app":"kube-dns"} to {"a":"b"}',
  ],
  [
    `--set service.adopt=true ${NAMED} --set service.selector.k8s-app=kube-dns --set k8sAppLabelOverride=x`,
    'service.selector does not select the pods',
  ],
  [
    `--set service.create=false ${NAMED} --set k8sAppLabelOverride=x`,
    'the selector of Service kube-system/kube-dns does not select the pods',
  ],
  [
    `--set service.create=false ${NAMED} --set servers[0].port=1053,servers[0].servicePort=53,servers[0].plugins[0].name=whoami`,
    'sends queries for its port 53 to the port 53 of pods: these pods have 1053',
  ],
  [
    `--set service.adopt=true ${NAMED} --set servers[0].port=9153,servers[0].plugins[0].name=whoami`,
    'the port 9153 of Service kube-system/kube-dns would change its name: from "metrics" to tcp-9153',
  ],
];

describeWithTool(['helm', 'bash'], 'the chart in a cluster that has DNS', () => {
  it('refuses what would leave pods without DNS, before it writes an object', async () => {
    const { cluster, run, refuse } = await openScene('coredns');
    // As a former README said: Helm may own the Service.
    await run(OWN);
    const { version: former } = cluster.double.store;
    for (const [flags, message] of REFUSED) {
      expect.soft(await refuse(`${INSTALL} ${flags}`), flags).toContain(message);
      expect.soft(cluster.double.store.version, flags).toBe(former);
    }
  });

  it('installs beside it, apart from its Service, with a label of its own', async () => {
    const { cluster, run } = await openScene('coredns');
    await run(`${INSTALL} --set k8sAppLabelOverride=portolan`);
    expect(answering(cluster)).toEqual(['coredns']);
    expect(new Set(cluster.ready('portolan'))).toEqual(new Set(['portolan']));
  });

  it('says that pods of two budgets are never evicted', async () => {
    const { cluster, run } = await openScene('coredns');
    const spec = { minAvailable: 1, selector: { matchLabels: SELECTOR } };
    const metadata = { name: 'coredns-budget', namespace: 'kube-system' };
    cluster.double.put({ kind: 'PodDisruptionBudget', metadata, spec });
    const install = `${INSTALL} --set service.create=false ${NAMED}`;
    expect(await run(`${install} --dry-run=server`)).toContain(
      'The PodDisruptionBudget coredns-budget selects',
    );
    expect(await run(`${install} --set podDisruptionBudget=null`)).not.toContain('coredns-budget');
  });

  it('refuses an upgrade after which helm uninstall would delete the adopted Service', async () => {
    const { cluster, run, refuse } = await openScene('coredns');
    await run(listShellBlocks('Adopt the Service')[0]);
    const upgrade = INSTALL.replace('install', 'upgrade');
    expect(await refuse(`${upgrade} --set service.name=kube-dns`)).toContain('is an adopted one');
    // All values forgotten: the Service is kept, and selects the pods as before.
    await run(upgrade);
    expect(cluster.getSpec('services', 'kube-dns')).toMatchObject({ selector: SELECTOR });
    expect(answering(cluster)).toEqual(['coredns', 'portolan']);
  });

  it('gives an adopted Service of a former version its selector back', async () => {
    const { cluster, run } = await openScene('coredns');
    await run(listShellBlocks('Adopt the Service')[0]);
    const labels = { 'app.kubernetes.io/instance': 'portolan', 'app.kubernetes.io/name': 'portolan' };
    // What the former chart wrote: pods of the release are ready, so that helm may choose them alone.
    await run(
      `${INSTALL.replace('install', 'upgrade')} --set service.name=kube-dns --set service.annotations.helm\\\\.sh/resource-policy=keep`,
    );
    expect(cluster.getSpec('services', 'kube-dns')).toMatchObject({ selector: { ...SELECTOR, ...labels } });
    await run(
      `${INSTALL.replace('install', 'upgrade')} --set service.adopt=true --set service.name=kube-dns`,
    );
    expect(cluster.getSpec('services', 'kube-dns')).toMatchObject({ selector: SELECTOR });
    expect(cluster.getSpec('services', 'kube-dns')).not.toMatchObject({ selector: labels });
    expect(cluster.silences).toEqual([]);
  });
});
