/**
 * A container: a program of an image, in namespaces of its own, with the privileges of a manifest.
 *
 * A small program sets these privileges as runc does. As with containerd 1 and CRI-O, and unlike Docker and containerd 2, only the
 * pod's sysctl opens ports below 1024.
 */

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import type { Image } from './unpack-image.ts';

const run = promisify(execFile);

/** Numbers of linux/capability.h. */
const CAPABILITIES = {
  CHOWN: 0,
  DAC_OVERRIDE: 1,
  FOWNER: 3,
  FSETID: 4,
  KILL: 5,
  SETGID: 6,
  SETUID: 7,
  SETPCAP: 8,
  NET_BIND_SERVICE: 10,
  NET_ADMIN: 12,
} as const;

export type Capability = keyof typeof CAPABILITIES;

/** What CRI-O leaves a container whose manifest drops none; containerd leaves some more. */
export const DEFAULT_CAPABILITIES: readonly Capability[] = [
  ...(['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'SETGID', 'SETUID', 'SETPCAP'] as const),
  'NET_BIND_SERVICE',
];

/** The parts of a `securityContext` that count here, and what the pod mounts. */
export interface ContainerOptions {
  readonly capabilities: readonly Capability[];
  readonly allowPrivilegeEscalation?: boolean;
  readonly readOnlyRootFilesystem?: boolean;
  /** Else the one of the image. */
  readonly runAsUser?: number;
  /** `net.ipv4.ip_unprivileged_port_start` */
  readonly portStart?: number;
  readonly environment?: Readonly<Record<string, string>>;
  /** Folders by where the container has them. */
  readonly volumes?: Readonly<Record<string, string>>;
}

/** Runs before the program, as root: $1 is the root, $2 the first port for everybody, $3 `ro` or `rw`, then pairs up to `--`. */
const SET_UP = `
root=$1 start=$2 mode=$3; shift 3
ip link set lo up
echo "$start" > /proc/sys/net/ipv4/ip_unprivileged_port_start
mount --bind "$root" "$root"
mkdir -p "$root/proc" "$root/dev"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
while [ "$1" != -- ]; do
  mkdir -p "$root$1"
  mount --bind -o ro "$2" "$root$1"
  shift 2
done
shift
mount -o "remount,bind,$mode" "$root"
exec "$@"
`;

/** Builds what starts the containers. @returns its path */
export async function buildLauncher(folder: string): Promise<string> {
  const source = fileURLToPath(new URL('launch.c', import.meta.url));
  await run('gcc', ['-Wall', '-Wextra', '-Werror', '-o', `${folder}/launch`, source]);
  return `${folder}/launch`;
}

export class Container {
  readonly #process: ChildProcess;
  /** The command that becomes a program with the rights of this container. */
  readonly #launch: readonly string[];
  /** What the program has written so far. */
  output = '';

  /** Starts the entry of an image with the arguments of a manifest. */
  constructor(launcher: string, image: Image, words: readonly string[], options: ContainerOptions) {
    this.#launch = makeCommand(launcher, image, options);
    const mode = options.readOnlyRootFilesystem === true ? 'ro' : 'rw';
    const volumes = Object.entries(options.volumes ?? {}).flat();
    const namespaces = ['--net', '--mount', '--pid', '--fork', '--kill-child'];
    const before = [
      'sh',
      '-ec',
      SET_UP,
      'sh',
      image.root,
      String(options.portStart ?? 1024),
      mode,
      ...volumes,
    ];
    this.#process = spawn(
      'unshare',
      [...namespaces, ...before, '--', ...this.#launch, ...image.entry, ...words],
      {
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    for (const stream of [this.#process.stdout, this.#process.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.output += text;
      });
  }

  get hasEnded(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null;
  }

  /** The command that another one of this machine is appended to, to run in the network of the container. */
  get network(): readonly string[] {
    return ['nsenter', `--target=${this.#process.pid}`, '--net', '--'];
  }

  /** Runs a program of the image beside the one that is there, as `kubectl exec` and the hooks of manifests do. @returns its output */
  async exec(...words: readonly string[]): Promise<string> {
    const { stdout } = await run('nsenter', [
      `--target=${this.#firstProcess()}`,
      '--net',
      '--mount',
      '--pid',
      '--',
      ...this.#launch,
      ...words,
    ]);
    return stdout;
  }

  /** Repeats a command of this machine in the network of the container until it succeeds. @returns its output */
  async until(...command: readonly string[]): Promise<string> {
    const [program = '', ...words] = [...this.network, ...command];
    let output = '';
    await waitUntil(`success of ${command.join(' ')}`, async () => {
      if (this.hasEnded) throw new Error(`the container has ended: ${this.output}`);
      try {
        ({ stdout: output } = await run(program, words));
        return true;
      } catch {
        return false;
      }
    });
    return output;
  }

  /** The exit code of a program that ends by itself. */
  async ended(): Promise<number | null> {
    if (!this.hasEnded) await once(this.#process, 'close');
    return this.#process.exitCode;
  }

  /** With its first process the kernel ends all others. */
  async kill(): Promise<void> {
    const closed = once(this.#process, 'close');
    if (this.hasEnded) return;
    process.kill(this.#firstProcess(), 'SIGKILL');
    await closed;
  }

  /** The process that is number 1 within. `unshare` waits for it; its own death would not reach a program with file capabilities. */
  #firstProcess(): number {
    const { pid } = this.#process;
    return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'));
  }
}

/** The command that becomes a program of the image with these rights; the environment is the container's, with HOME as runc sets it. */
function makeCommand(
  launcher: string,
  image: Image,
  { capabilities, allowPrivilegeEscalation = true, runAsUser, environment = {} }: ContainerOptions,
): readonly string[] {
  const [user = '0', group = '0'] = runAsUser === undefined ? image.user.split(':') : [String(runAsUser)];
  const mask = capabilities.reduce((bits, name) => bits | (1 << CAPABILITIES[name]), 0);
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  const rights = [user, group, mask.toString(16), allowPrivilegeEscalation ? '0' : '1'];
  return ['env', '-i', 'HOME=/', ...image.environment, ...variables, launcher, image.root, ...rights];
}
