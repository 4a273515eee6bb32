/**
 * A real etcd on free ports of loopback: one member, or a cluster of several. Each can be killed and restarted.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { promisify } from 'node:util';
import { parseEndpoint } from '@portolan/etcd/source/client/endpoints.ts';
import type { Credentials, EtcdSettings, TlsFiles } from '@portolan/etcd/source/client/settings.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { onTestFinished } from 'vitest';
import { tlsFixturePath } from '../api-server/tls-fixture.ts';

type AtEnd = (end: () => Promise<void>) => void;

export interface EtcdOptions {
  /** Members of the cluster. Default: 1. */
  readonly members?: number;
  /** Serve clients by TLS and ask for their certificates. */
  readonly tls?: boolean;
  readonly v2?: boolean;
  /** Further flags. */
  readonly flags?: readonly string[];
}

export const CLIENT_TLS: TlsFiles = {
  authority: tlsFixturePath('authority.crt'),
  certificate: tlsFixturePath('client.crt'),
  key: tlsFixturePath('client.key'),
};

/** May read and write `/skydns/` where `enableAuth` has been called. */
export const USER: Credentials = { username: 'reader', password: 'pass:word' };

const READY = 'ready to serve client requests';

export class EtcdMember {
  readonly url: string;
  readonly #args: readonly string[];
  #process: ChildProcess | undefined;
  #exit: Promise<void> = Promise.resolve();
  output = '';

  constructor(url: string, args: readonly string[]) {
    this.url = url;
    this.#args = args;
  }

  /** Ends when it serves clients. @throws Error when it ends before */
  async start(): Promise<void> {
    this.output = '';
    const child = spawn('etcd', this.#args, {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { PATH: process.env['PATH'] },
    });
    this.#process = child;
    this.#exit = new Promise((resolve) => {
      child.on('close', () => resolve());
    });
    await new Promise<void>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', () => reject(new Error(`etcd has ended:\n${this.output}`)));
      child.stderr?.setEncoding('utf8').on('data', (text: string) => {
        this.output = (this.output + text).slice(-20_000);
        if (this.output.includes(READY)) resolve();
      });
    });
  }

  /** Ends when the process has ended. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.#process?.kill(signal);
    await this.#exit;
  }

  /** Stops or continues the process. */
  signal(signal: NodeJS.Signals): void {
    this.#process?.kill(signal);
  }
}

export class EtcdCluster {
  readonly members: readonly EtcdMember[];
  readonly #tls: boolean;

  constructor(members: readonly EtcdMember[], tls: boolean) {
    this.members = members;
    this.#tls = tls;
  }

  get first(): EtcdMember {
    const [member] = this.members;
    if (member === undefined) throw new RangeError('a cluster without members');
    return member;
  }

  /** For a client, without user and password. */
  get settings(): EtcdSettings {
    const endpoints = this.members.map(({ url }) => parseEndpoint(url)).filter((each) => each !== undefined);
    return { endpoints, ...(this.#tls && { tls: CLIENT_TLS }) };
  }

  /** @returns what the command writes */
  async control(...args: readonly string[]): Promise<string> {
    return await this.controlWith({ ETCDCTL_API: '3' }, ...args);
  }

  /** From now on a user is needed. */
  async enableAuth(): Promise<void> {
    const { username, password } = USER;
    await this.control('user', 'add', 'root:secret');
    await this.control('user', 'grant-role', 'root', 'root');
    await this.control('role', 'add', 'names');
    await this.control('role', 'grant-permission', 'names', '--prefix=true', 'readwrite', '/skydns/');
    await this.control('user', 'add', `${username}:${password}`);
    await this.control('user', 'grant-role', username, 'names');
    await this.control('auth', 'enable');
  }

  /** Ends when another member has become the leader by a command; on a busy machine an election may come first. */
  async moveLeader(): Promise<void> {
    const end = performance.now() + 60_000;
    for (let isMoved = false; !isMoved; ) {
      if (performance.now() > end) throw new Error('the leader could not be moved');
      // Endpoint, identifier, version, size, whether it leads.
      const members = (await this.control('endpoint', 'status')).split('\n').map((line) => line.split(', '));
      const [, follower] = members.find(([, , , , isLeader]) => isLeader === 'false') ?? [];
      isMoved =
        follower !== undefined &&
        (await this.control('move-leader', follower).then(
          () => true,
          () => false,
        ));
    }
  }

  async controlWith(
    environment: Readonly<Record<string, string>>,
    ...args: readonly string[]
  ): Promise<string> {
    const { authority, certificate, key } = CLIENT_TLS;
    const tls = this.#tls ? [`--cacert=${authority}`, `--cert=${certificate}`, `--key=${key}`] : [];
    const endpoints = `--endpoints=${this.members.map(({ url }) => url).join(',')}`;
    const env = { PATH: process.env['PATH'], ...environment };
    const { stdout } = await promisify(execFile)('etcdctl', [endpoints, ...tls, ...args], { env });
    return stdout;
  }
}

/** Ends when all members serve clients; they end with the test, or with its file. */
export async function startEtcd(
  options: EtcdOptions = {},
  atEnd: AtEnd = onTestFinished,
): Promise<EtcdCluster> {
  const { members: count = 1, tls = false, v2 = false, flags = [] } = options;
  const folder = await makeTemporaryFolder(atEnd);
  const scheme = tls ? 'https' : 'http';
  const ports: { readonly client: number; readonly peer: number }[] = [];
  for (let index = 0; index < count; index += 1)
    ports.push({ client: await findFreePort(), peer: await findFreePort() });
  const cluster = ports.map(({ peer }, index) => `m${index}=http://127.0.0.1:${peer}`).join(',');
  const members = ports.map(({ client, peer }, index) => {
    const url = `${scheme}://127.0.0.1:${client}`;
    const peerUrl = `http://127.0.0.1:${peer}`;
    return new EtcdMember(url, [
      '--name',
      `m${index}`,
      '--data-dir',
      `${folder.path}/m${index}`,
      '--log-outputs',
      'stderr',
      '--listen-client-urls',
      url,
      '--advertise-client-urls',
      url,
      '--listen-peer-urls',
      peerUrl,
      '--initial-advertise-peer-urls',
      peerUrl,
      '--initial-cluster',
      cluster,
      '--heartbeat-interval',
      '50',
      '--election-timeout',
      '500',
      ...(tls ? tlsFlags() : []),
      ...(v2 ? ['--enable-v2'] : []),
      ...flags,
    ]);
  });
  atEnd(async () => {
    await Promise.all(members.map((member) => member.kill()));
  });
  await Promise.all(members.map((member) => member.start()));
  return new EtcdCluster(members, tls);
}

function tlsFlags(): readonly string[] {
  return [
    '--cert-file',
    tlsFixturePath('server.crt'),
    '--key-file',
    tlsFixturePath('server.key'),
    '--trusted-ca-file',
    tlsFixturePath('authority.crt'),
    '--client-cert-auth',
  ];
}
