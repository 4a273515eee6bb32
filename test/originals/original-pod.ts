/**
 * A pod of an original manifest with our images: one network, and a container of runc for each of the manifest, with its limits.
 *
 * Beside it in the network are the API server, a name server for names outside, and programs of images that stay.
 */

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, chown, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import type { Image } from '../image/unpack-image.ts';
import { ANSWER_ALL } from '../node-cache/cluster-dns.ts';
import { type Holder, hold } from '../node-cache/namespace.ts';
import { findMemoryLimit, type Mount, makeBundle } from './oci-bundle.ts';
import type { OriginalContainer, OriginalManifest, OriginalVolume } from './original.ts';
import { findImageTarget } from './original.ts';

const run = promisify(execFile);
export const POD_ADDRESS = '10.244.0.5';
const GATEWAY = '10.244.0.1';
/** The server of the pod's `resolv.conf`, and of `kube-dns-upstream`. */
export const NAME_SERVER = '10.0.0.53';
const API_PORT = '6443';
/** Milliseconds: a container with a hundredth of a core starts slowly. */
const PATIENCE = 300_000;
const MEBI = 2 ** 20;

export interface PodOptions {
  /** An empty folder. */
  readonly folder: string;
  /** Unique on this machine. */
  readonly id: string;
  readonly manifest: OriginalManifest;
  /** Memory limits by container, instead of those of the manifest. */
  readonly memory: Readonly<Record<string, string>>;
  /** The image of a target. */
  readonly loadImage: (target: string) => Promise<Image>;
  /** The folder of the service account. */
  readonly account: string;
  /** The API server's program, and its flags. */
  readonly apiServer: readonly string[];
}

/** Mebibytes. */
export interface MemoryUse {
  readonly container: string;
  readonly limit: number | undefined;
  /** Anonymous memory, which the kernel cannot take back. */
  readonly anonymous: number;
}

export class OriginalPod {
  readonly #options: PodOptions;
  readonly #holder: Holder;
  /** The network outside: a name server may not share the pod's, where port 53 is taken. */
  readonly #outside: Holder;
  readonly #processes: ChildProcess[] = [];
  /** Of each container, what it wrote. */
  readonly #outputs = new Map<string, string>();

  private constructor(options: PodOptions, [holder, outside]: readonly [Holder, Holder]) {
    this.#options = options;
    this.#holder = holder;
    this.#outside = outside;
  }

  static async start(options: PodOptions): Promise<OriginalPod> {
    const networks = await Promise.all([hold(['unshare', '-n']), hold(['unshare', '-n'])]);
    const pod = new OriginalPod(options, networks);
    try {
      await pod.#startSurroundings();
      for (const container of options.manifest.spec.containers) await pod.#startContainer(container);
    } catch (error) {
      await pod.end();
      throw error;
    }
    return pod;
  }

  /** The command that another one is appended to, to run in the network of the pod. */
  get through(): readonly string[] {
    return makeNsenterCommand(this.#holder);
  }

  /** What a container has written. */
  readOutput(container: string): string {
    return this.#outputs.get(container) ?? '';
  }

  /** Whether there is a way to the name server outside. */
  async connect(isThere: boolean): Promise<void> {
    const [program = '', ...words] = makeNsenterCommand(this.#outside);
    await run(program, [...words, 'ip', 'link', 'set', 'pod', isThere ? 'up' : 'down']);
  }

  /** The first process of a container, as this machine numbers it. */
  async firstProcess(name: string): Promise<number> {
    const id = `${this.#options.id}-${name}`;
    const { stdout } = await run('runc', ['--root', join(this.#options.folder, 'state'), 'state', id]);
    return (JSON.parse(stdout) as { pid: number }).pid; // The format of runc.
  }

  /** Waits until dig prints this for a name. */
  async answers(server: string, name: string, answer: string, transport: '+tcp' | '+notcp'): Promise<void> {
    const dig = ['dig', `@${server}`, '+short', '+tries=1', '+time=2', transport, name];
    await this.#until(`${dig.join(' ')}: ${answer}`, async () => (await this.#run(...dig)).trim() === answer);
  }

  /** Waits until the kubelet would call the pod ready, and all containers alive. */
  async passesProbes(): Promise<void> {
    const { spec } = this.#options.manifest;
    for (const container of spec.containers)
      for (const probe of [container.readinessProbe, container.livenessProbe]) {
        if (probe === undefined) continue;
        const { host = spec.hostNetwork === true ? '127.0.0.1' : POD_ADDRESS, path, port } = probe.httpGet;
        const url = `http://${host}:${resolvePort(container, port)}${path}`;
        await this.#until(
          url,
          async () => (await this.#run(process.execPath, '-e', FETCH_STATUS, url)) === '200',
        );
      }
  }

  /** Waits until the API server has an object with this text. */
  async hasObject(path: string, text: string): Promise<void> {
    const url = `https://127.0.0.1:${API_PORT}${path}`;
    const fetch = ['env', `NODE_EXTRA_CA_CERTS=${this.#options.account}/ca.crt`, process.execPath, '-e'];
    const token = readFileSync(`${this.#options.account}/token`, 'utf8');
    await this.#until(`${path}: ${text}`, async () =>
      (await this.#run(...fetch, FETCH_TEXT, url, token)).includes(text),
    );
  }

  /** What each container of Portolan uses now. @throws if one has ended */
  memory(): readonly MemoryUse[] {
    this.#failIfEnded();
    return this.#ours().map((container) => {
      const limit = findMemoryLimit(container, this.#options.memory[container.name]);
      return {
        container: container.name,
        limit: limit === undefined ? undefined : limit / MEBI,
        anonymous: Math.round(readAnonymousMemory(this.#cgroup(container)) / MEBI),
      };
    });
  }

  async end(): Promise<void> {
    for (const container of this.#ours())
      await this.#runc('kill', this.#containerId(container), 'KILL').catch(() => {});
    await Promise.all(
      this.#processes.map(async (child) => {
        child.stdin?.end();
        if (child.exitCode !== null || child.signalCode !== null) return;
        const closed = once(child, 'close');
        // A container has ended by runc, and the API server ends with its input.
        if (child.spawnfile === 'nsenter') child.kill('SIGKILL');
        await closed;
      }),
    );
    this.#holder.end();
    this.#outside.end();
  }

  #ours(): readonly OriginalContainer[] {
    return this.#options.manifest.spec.containers.filter(
      (container) => findImageTarget(container) !== undefined,
    );
  }

  async #startSurroundings(): Promise<void> {
    const { pid } = this.#outside;
    const outside = makeNsenterCommand(this.#outside);
    const ip = async (place: readonly string[], words: string) => {
      const [program = '', ...rest] = [...place, 'ip', ...words.split(' ')];
      await run(program, rest);
    };
    await ip(this.through, `link add eth0 type veth peer name pod netns ${pid}`);
    await ip(this.through, `address add ${POD_ADDRESS}/24 dev eth0`);
    await ip(outside, `address add ${GATEWAY}/24 dev pod`);
    await ip(outside, `address add ${NAME_SERVER}/32 dev lo`);
    await ip(outside, 'link set pod up');
    await ip(this.through, 'link set eth0 up');
    await ip(this.through, `route add default via ${GATEWAY}`);
    const nameServer = [process.execPath, '-e', ANSWER_ALL, NAME_SERVER, '53'];
    await Promise.all([
      this.#accompany([...outside, ...nameServer], 'ready'),
      this.#accompany([...this.through, ...this.#options.apiServer, '--port', API_PORT], '"url"'),
    ]);
  }

  async #startContainer(container: OriginalContainer): Promise<void> {
    const target = findImageTarget(container);
    if (target === undefined) return await this.#startOther(container);
    const { manifest, loadImage, memory, folder } = this.#options;
    const bundle = join(folder, container.name);
    await mkdir(bundle);
    const options = {
      spec: manifest.spec,
      container,
      image: await loadImage(target),
      memory: memory[container.name],
      environment: this.#environment(),
      mounts: await this.#createMounts(container),
      networkPid: this.#holder.pid,
      cgroup: this.#cgroup(container),
    };
    await writeFile(join(bundle, 'config.json'), JSON.stringify(makeBundle(options)));
    const words = ['--root', join(folder, 'state'), 'run', '--bundle', bundle, this.#containerId(container)];
    this.#follow(container.name, spawn('runc', words, { stdio: ['ignore', 'pipe', 'pipe'] }));
  }

  /** A program of this machine for an image that stays: only etcd. Its version 3 answers the API of version 2 when it is asked to. */
  async #startOther({ name, command = [], volumeMounts = [] }: OriginalContainer): Promise<void> {
    const folder = join(this.#options.folder, 'data');
    const paths = volumeMounts.map(({ mountPath }) => mountPath);
    const words = command.slice(1).map((word) => (paths.includes(word) ? folder : word));
    await this.#accompany(
      [...this.through, 'etcd', ...words, '-enable-v2'],
      'ready to serve client requests',
      name,
    );
  }

  /** Starts a program, which ends with the pod. @param said what it writes when it is ready */
  async #accompany(command: readonly string[], said: string, name = said): Promise<void> {
    const [program = '', ...words] = command;
    this.#follow(name, spawn(program, words, { stdio: ['pipe', 'pipe', 'pipe'] }));
    await this.#until(name, async () => this.#outputs.get(name)?.includes(said) === true);
  }

  #follow(name: string, child: ChildProcess): void {
    this.#processes.push(child);
    this.#outputs.set(name, '');
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#outputs.set(name, `${this.#outputs.get(name)}${text}`.slice(-MEBI));
      });
  }

  async #createMounts({ name, volumeMounts = [] }: OriginalContainer): Promise<readonly Mount[]> {
    const { folder, manifest, account } = this.#options;
    const resolv = await this.#write(`${name}-resolv.conf`, `nameserver ${NAME_SERVER}\n`);
    const hosts = await this.#write(`${name}-hosts`, `127.0.0.1 localhost\n${POD_ADDRESS} pod\n`);
    const mounts: Mount[] = [
      { source: resolv, destination: '/etc/resolv.conf', isReadOnly: false },
      { source: hosts, destination: '/etc/hosts', isReadOnly: false },
      { source: account, destination: '/var/run/secrets/kubernetes.io/serviceaccount', isReadOnly: true },
    ];
    for (const { name: volumeName, mountPath, readOnly = false } of volumeMounts) {
      const volume = manifest.spec.volumes?.find((each) => each.name === volumeName);
      if (volume === undefined) throw new Error(`no volume ${volumeName}`);
      const source = await this.#makeVolume(volume, join(folder, 'volumes', volumeName));
      // The kubelet mounts ConfigMaps read-only, whatever the manifest says.
      mounts.push({ source, destination: mountPath, isReadOnly: readOnly || volume.configMap !== undefined });
    }
    return mounts;
  }

  /** @returns where it is */
  async #makeVolume({ configMap, hostPath }: OriginalVolume, path: string): Promise<string> {
    if (hostPath !== undefined) {
      // All of the manifests are files.
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, '');
      return path;
    }
    await mkdir(path, { recursive: true });
    // As the kubelet makes an emptyDir, for every user.
    if (configMap === undefined) await chmod(path, 0o777);
    const data = this.#options.manifest.configMaps.get(configMap?.name ?? '') ?? {};
    const items = configMap?.items ?? Object.keys(data).map((key) => ({ key, path: key }));
    for (const item of items) await writeFile(join(path, item.path), data[item.key] ?? '');
    return path;
  }

  async #write(name: string, text: string): Promise<string> {
    const file = join(this.#options.folder, name);
    await writeFile(file, text);
    await chmod(file, 0o644);
    await chown(file, 0, 0);
    return file;
  }

  #environment(): readonly string[] {
    const services = [...this.#options.manifest.services].map(
      ([name, address]) => `${name.toUpperCase().replaceAll('-', '_')}_SERVICE_HOST=${address}`,
    );
    return [`KUBERNETES_SERVICE_HOST=127.0.0.1`, `KUBERNETES_SERVICE_PORT=${API_PORT}`, ...services];
  }

  readonly #containerId = ({ name }: OriginalContainer): string => `${this.#options.id}-${name}`;
  readonly #cgroup = (container: OriginalContainer): string => `/${this.#containerId(container)}`;

  #runc(...words: readonly string[]): Promise<unknown> {
    return run('runc', ['--root', join(this.#options.folder, 'state'), ...words]);
  }

  async #run(...command: readonly string[]): Promise<string> {
    const [program = '', ...words] = [...this.through, ...command];
    return (await run(program, words)).stdout;
  }

  /** Repeats a look until it succeeds. @throws if a container ends before, or after minutes */
  async #until(what: string, look: () => Promise<boolean>): Promise<void> {
    const isSo = async () => {
      const found = await look().catch(() => false);
      if (!found) this.#failIfEnded();
      return found;
    };
    await waitUntil(what, isSo, { deadline: PATIENCE }).catch((error: unknown) => {
      throw new Error(`${describeError(error)}\n${this.#allOutput()}`);
    });
  }

  #failIfEnded(): void {
    const ended = this.#processes.find(
      ({ exitCode, signalCode }) => exitCode !== null || signalCode !== null,
    );
    if (ended === undefined) return;
    const { spawnargs, exitCode, signalCode } = ended;
    throw new Error(`has ended with ${exitCode ?? signalCode}: ${spawnargs.at(-1)}\n${this.#allOutput()}`);
  }

  #allOutput(): string {
    return [...this.#outputs].map(([name, text]) => `--- ${name}\n${text.slice(-4000)}`).join('\n');
  }
}

const makeNsenterCommand = ({ pid }: Holder): readonly string[] => [
  'nsenter',
  `--target=${pid}`,
  '--net',
  '--',
];

function resolvePort({ ports = [] }: OriginalContainer, port: number | string): number {
  if (typeof port === 'number') return port;
  const named = ports.find(({ name }) => name === port);
  if (named === undefined) throw new Error(`no port ${port}`);
  return named.containerPort;
}

/** Octets, of version 1 or 2 of control groups. */
function readAnonymousMemory(cgroup: string): number {
  const places = [
    [`/sys/fs/cgroup/memory${cgroup}/memory.stat`, /^total_rss (\d+)$/m],
    [`/sys/fs/cgroup${cgroup}/memory.stat`, /^anon (\d+)$/m],
  ] as const;
  for (const [file, pattern] of places) {
    const text = readIfThere(file);
    if (text !== undefined) return Number(pattern.exec(text)?.[1]);
  }
  throw new Error(`no control group: ${cgroup}`);
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

const FETCH_STATUS = `fetch(process.argv[1]).then(({ status }) => process.stdout.write(String(status)));`;
const FETCH_TEXT = `
const [url, token] = process.argv.slice(1);
fetch(url, { headers: { authorization: 'Bearer ' + token } }).then(async (reply) => process.stdout.write(await reply.text()));
`;
