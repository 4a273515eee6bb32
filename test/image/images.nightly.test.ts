/**
 * Each image under the security context of the manifest that it replaces, which must be enough to open port 53.
 *
 * The contexts and arguments are those of the addons of Kubernetes (1.36) and, of exechealthz and plain dnsmasq, of Kubernetes 1.5.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmod, cp, mkdir, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeTemporaryFolder, type TemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import type { ImageLayers } from '@portolan/ops/image/image-layers.ts';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { tlsFixturePath } from '../api-server/tls-fixture.ts';
import { type Container as ContainerManifest, readContainers, readDeployment } from '../deploy/manifests.ts';
import { ORIGINALS } from '../originals/cases.ts';
import { OriginalResults } from '../originals/results.ts';
import { tryOriginal } from '../originals/try-original.ts';
import { afterFile } from '../support/after-file.ts';
import { bundleDouble, bundleWithCertificates } from '../support/double-process.ts';
import { soakLength } from '../support/soak-length.ts';
import { describeWhere, hasTool } from '../support/tools.ts';
import { buildLauncher, Container, type ContainerOptions, DEFAULT_CAPABILITIES } from './container.ts';
import { makeLayers, unpackImage } from './unpack-image.ts';

const TOOLS = ['gcc', 'dig', 'ip', 'unshare', 'nsenter', 'runc', 'etcd', 'dpkg-deb', 'apt-get', 'tar'];
const NAMESPACES = ['unshare', '--net', '--mount', '--pid', '--fork'];
const mayRunContainers =
  process.getuid?.() === 0 &&
  TOOLS.every(hasTool) &&
  spawnSync('sh', ['-c', `${NAMESPACES.join(' ')} true`]).status === 0;
const MINUTES = 60_000;
const SERVICE = 'kubernetes.default.svc.cluster.local';

/** What the addon of CoreDNS says, kubeadm's manifest and CoreDNS's own chart. */
const COREDNS: ContainerOptions = {
  capabilities: ['NET_BIND_SERVICE'],
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
};
const KUBE_DNS: ContainerOptions = {
  capabilities: DEFAULT_CAPABILITIES,
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  runAsUser: 1001,
};
const ADDRESSES = ['/cluster.local/', '/in-addr.arpa/', '/ip6.arpa/'];
const DNSMASQ = [
  '-k',
  '--cache-size=1000',
  '--no-negcache',
  '--dns-loop-detect',
  '--log-facility=-',
  ...ADDRESSES.map((zone) => `--server=${zone}127.0.0.1#10053`),
  '--address=/here.example/192.0.2.1',
];

let folder: TemporaryFolder;
let layers: ImageLayers;
let launcher = '';
let apiServer: URL;
let tlsUpstream: URL;
const results = new OriginalResults();
const containers: Container[] = [];
const companions: ChildProcess[] = [];

async function start(
  target: string,
  words: readonly string[],
  options: ContainerOptions,
): Promise<Container> {
  const container = new Container(
    launcher,
    await unpackImage(layers, target, `${folder.path}/images/targets/${target}`),
    words,
    options,
  );
  containers.push(container);
  return container;
}

/** Runs a program of the tests in the network of a container, until the test ends. */
function accompany(container: Container, entry: URL, ...flags: readonly string[]): void {
  const [program = '', ...words] = [...container.network, process.execPath, fileURLToPath(entry), ...flags];
  companions.push(spawn(program, words, { stdio: ['pipe', 'ignore', 'inherit'] }));
}

/** The API server of a pod, with its Service `kubernetes`. */
async function serveApi(container: Container): Promise<void> {
  await container.until('true');
  const flags = ['--tls', '--port', '6443', '--objects', `${folder.path}/objects.json`];
  accompany(container, apiServer, ...flags);
}

/** What kubelet gives every pod to find the API server with. */
const inCluster = (): ContainerOptions => ({
  ...KUBE_DNS,
  environment: { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: '6443' },
  volumes: { '/var/run/secrets/kubernetes.io/serviceaccount': `${folder.path}/account` },
});

const corefile = (name: string): Readonly<Record<string, string>> => ({
  '/etc/coredns': `${folder.path}/${name}`,
  '/etc/tls': `${folder.path}/tls`,
});

/** Over both transports dig prints this for a name: `status: NOERROR`, an address. */
async function expectAnswers(
  container: Container,
  name: string,
  said: string,
  place: readonly string[] = ['@127.0.0.1'],
): Promise<void> {
  for (const transport of ['+notcp', '+tcp']) {
    const question = ['dig', '+tries=1', '+time=2', transport, ...place, name].join(' ');
    expect(await container.until('sh', '-c', `${question} | grep -F '${said}'`)).toContain(said);
  }
}

const fetches = (url: string): readonly string[] => [
  process.execPath,
  '-e',
  `fetch('${url}').then(({ status }) => process.exit(status === 200 ? 0 : 1), () => process.exit(1))`,
];

async function writeFiles(): Promise<void> {
  await folder.write('plain/Corefile', '.:53 {\n whoami\n}\n');
  await folder.write(
    'tls-files/Corefile',
    `cluster.local:53 {
       kubernetes cluster.local {
         endpoint https://127.0.0.1:6443
         tls /etc/tls/client.crt /etc/tls/client.key /etc/tls/authority.crt
       }
     }
     .:53 {
       forward . tls://127.0.0.1 {
         tls_servername localhost
       }
     }`,
  );
  await cp(dirname(tlsFixturePath('client.crt')), `${folder.path}/tls`, { recursive: true });
  await chmod(`${folder.path}/tls/client.key`, 0o644);
  await folder.write('account/token', 'portolan-test-token');
  await cp(tlsFixturePath('authority.crt'), `${folder.path}/account/ca.crt`);
  const metadata = { name: 'kubernetes', namespace: 'default' };
  const ports = [{ name: 'https', port: 443, protocol: 'TCP' }];
  const service = { apiVersion: 'v1', kind: 'Service', metadata, spec: { clusterIP: '10.96.0.1', ports } };
  await folder.write('objects.json', JSON.stringify(service));
  await mkdir(`${folder.path}/images`);
}

describeWhere(mayRunContainers, `root, ${NAMESPACES.join(' ')} and ${TOOLS.join(', ')}`, 'the images', () => {
  beforeAll(async () => {
    folder = await makeTemporaryFolder(afterFile);
    await chmod(folder.path, 0o755);
    await writeFiles();
    [apiServer, tlsUpstream, launcher, layers] = await Promise.all([
      bundleDouble(),
      bundleWithCertificates('test/image/tls-upstream-process.ts'),
      buildLauncher(folder.path),
      makeLayers(`${folder.path}/images`),
    ]);
  }, 20 * MINUTES);

  afterAll(() => results.record());

  afterEach(async () => {
    for (const companion of companions.splice(0)) companion.stdin?.end();
    await Promise.all(containers.splice(0).map((container) => container.kill()));
    await rm(`${folder.path}/images/targets`, { recursive: true, force: true });
  });

  it.each<readonly [string, ContainerOptions]>([
    ["CoreDNS's manifest", COREDNS],
    ['another user', { ...COREDNS, runAsUser: 1000 }],
    ['the capabilities that a runtime leaves', { capabilities: DEFAULT_CAPABILITIES }],
    ['root', { ...COREDNS, runAsUser: 0 }],
    ['open low ports', { ...COREDNS, portStart: 0 }],
  ])('coredns answers at port 53 under %s', async (_context, context) => {
    const words = ['-conf', '/etc/coredns/Corefile'];
    const container = await start('coredns', words, { ...context, volumes: corefile('plain') });
    await expectAnswers(container, 'a.example.', 'status: NOERROR');
  });

  it('coredns reads its TLS files, and the authorities of NODE_EXTRA_CA_CERTS', async () => {
    const container = await start('coredns', ['-conf', '/etc/coredns/Corefile'], {
      ...COREDNS,
      environment: { NODE_EXTRA_CA_CERTS: '/etc/tls/authority.crt' },
      volumes: corefile('tls-files'),
    });
    await serveApi(container);
    accompany(container, tlsUpstream);
    await expectAnswers(container, `${SERVICE}.`, '10.96.0.1');
    await expectAnswers(container, 'outside.example.', 'status: NOERROR');
  });

  it('coredns lets hooks and kubectl exec in, and heeds NODE_OPTIONS', async () => {
    const container = await start('coredns', ['-conf', '/etc/coredns/Corefile'], {
      ...COREDNS,
      environment: { NODE_OPTIONS: '--title=heeded' },
      volumes: corefile('plain'),
    });
    await expectAnswers(container, 'a.example.', 'status: NOERROR');
    expect(await container.exec('/coredns', '-version')).toContain('CoreDNS-');
    expect(await container.exec('/usr/local/bin/portolan', 'version')).toContain('portolan ');
    expect(await container.exec('/usr/bin/sleep', '0')).toBe('');
    expect(await container.exec('/usr/local/bin/node', '-p', 'process.title')).toBe('heeded\n');
  });

  it('coredns cannot be executed without NET_BIND_SERVICE, as with the image of CoreDNS, but portolan can', async () => {
    const context = { ...COREDNS, capabilities: [], portStart: 0, volumes: corefile('plain') };
    const refused = await start('coredns', ['-conf', '/etc/coredns/Corefile'], context);
    expect(await refused.ended()).toBe(126);
    expect(refused.output).toContain('Operation not permitted');
    const container = await start('portolan', ['coredns', '-conf', '/etc/coredns/Corefile'], context);
    await expectAnswers(container, 'a.example.', 'status: NOERROR');
  });

  it('dnsmasq-nanny and dnsmasq answer at port 53', async () => {
    const nanny = ['-v=2', '-configDir=/etc/k8s/dns/dnsmasq-nanny', '-restartDnsmasq=true', '--', ...DNSMASQ];
    const context: ContainerOptions = { capabilities: ['NET_BIND_SERVICE', 'SETGID'] };
    const ofNanny = await start('dnsmasq-nanny', nanny, context);
    await expectAnswers(ofNanny, 'here.example.', '192.0.2.1');
    const alone = await start('dnsmasq', DNSMASQ.slice(1), { capabilities: DEFAULT_CAPABILITIES });
    await expectAnswers(alone, 'here.example.', '192.0.2.1');
  });

  it('node-cache answers at port 53 of the address of the node', async () => {
    const words = ['-localip', '169.254.20.10,10.96.0.10', '-conf', '/etc/Corefile', '-upstreamsvc', 'none'];
    await folder.write('node/Corefile.base', '.:53 {\n bind __PILLAR__LOCAL__DNS__\n whoami\n}\n');
    const context: ContainerOptions = { capabilities: [...DEFAULT_CAPABILITIES, 'NET_ADMIN'] };
    const volumes = { '/etc/coredns': `${folder.path}/node` };
    const container = await start('node-cache', [...words, '-pidfile', '/tmp/node-cache.pid'], {
      ...context,
      volumes,
    });
    await expectAnswers(container, 'a.example.', 'status: NOERROR', ['@169.254.20.10']);
  });

  it('kube-dns answers at its port, with the account of its pod', async () => {
    const container = await start(
      'kube-dns',
      ['--domain=cluster.local.', '--dns-port=10053', '--v=2'],
      inCluster(),
    );
    await serveApi(container);
    await expectAnswers(container, `${SERVICE}.`, '10.96.0.1', ['@127.0.0.1', '-p', '10053']);
  });

  it.each([
    ['sidecar', ['--v=2', `--probe=dnsmasq,127.0.0.1:53,${SERVICE},5,A`], 'http://127.0.0.1:10054/metrics'],
    ['exechealthz', ['--cmd=echo ok', '--port=8080', '--quiet'], 'http://127.0.0.1:8080/healthz'],
    [
      'cluster-proportional-autoscaler',
      ['--namespace=kube-system', '--configmap=dns', '--target=deployment/kube-dns', '--default-params={}'],
      'http://127.0.0.1:8080/healthz',
    ],
  ])('%s starts', async (target, words, url) => {
    const container = await start(target, words, inCluster());
    await serveApi(container);
    await container.until(...fetches(url));
  });

  it.each(
    ORIGINALS.slice(0, soakLength(ORIGINALS.length, 1)).map(
      (original) => [original.title, original] as const,
    ),
  )(
    'in place of %s start as its manifest says, and answer',
    async (_title, original) => {
      const used = await tryOriginal(original, {
        folder,
        loadImage: (target) => unpackImage(layers, target, `${folder.path}/images/targets/${target}`),
        account: `${folder.path}/account`,
        apiServer: fileURLToPath(apiServer),
      });
      results.add(original, used);
    },
    15 * MINUTES,
  );

  it('portolan answers at port 53 with what our manifests say', async () => {
    const [manifest] = readContainers('one') as readonly (ContainerManifest & { securityContext: unknown })[];
    expect(manifest?.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] },
    });
    expect(JSON.stringify(readDeployment('one'))).toContain('"runAsUser":1001');
    const context: ContainerOptions = { ...COREDNS, runAsUser: 1001, portStart: 0 };
    const container = await start('portolan', ['serve', '--example', '--upstream=none'], context);
    await expectAnswers(container, 'cart.shop.svc.cluster.local.', '10.96.20.10');
  });
});
