/**
 * The servers of a cluster, each with the same API server and upstream server.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { findFreePort } from '../../src/base/testing/free-port.ts';
import { makeTemporaryFolder } from '../../src/base/testing/temporary-folder.ts';
import type { Server } from '../../src/chain/testing/ask.ts';
import { ConfigMapVolume } from '../pod/config-map.ts';
import { runToEnd, socketOf } from '../support/control.ts';
import { runPortolan, servePortolan } from '../support/portolan.ts';

export const ROLES = ['serve', 'kube-dns', 'coredns', 'node-cache'] as const;
export type Role = (typeof ROLES)[number];

/** The places that a server asks. */
export interface World {
  /** The URL of the API server. */
  readonly api: string;
  readonly upstreamPort: number;
}

export interface RunningRole extends Server {
  readonly role: Role;
  readonly socket: string;
  /** Gives it a configuration with an error. */
  spoil(): Promise<void>;
}

const ADDRESS = '127.0.0.1';

/** Runs a server until it has its control socket; it may still wait for the API server. */
export async function startRole(role: Role, world: World, given?: number): Promise<RunningRole> {
  const port = given ?? (await findFreePort());
  const started = await START[role](world, port);
  const socket = socketOf(started.program, role);
  const status = () => runToEnd('control', `--socket=${socket}`, 'status');
  await expect.poll(async () => (await status()).code, { timeout: 30_000 }).toBe(0);
  return { role, address: ADDRESS, port, socket, spoil: started.spoil };
}

/** Waits for a fact of the status of a server. */
export async function untilStatus(
  { socket }: RunningRole,
  isSo: (status: Status) => boolean,
  timeout = 30_000,
): Promise<void> {
  const read = async () => {
    const { text } = await runToEnd('control', `--socket=${socket}`, '--output=json', 'status');
    return isSo(JSON.parse(text) as Status); // Our own format.
  };
  await expect.poll(read, { timeout, interval: 500 }).toBe(true);
}

export interface Status {
  readonly ready: boolean;
  readonly configuration: { readonly isLastGood: boolean };
  readonly data: {
    /** Milliseconds. */
    readonly age?: number;
    readonly kinds: readonly { readonly words?: string }[];
  };
}

type Start = (
  world: World,
  port: number,
) => Promise<{ readonly program: ReturnType<typeof runPortolan>; spoil(): Promise<void> }>;

const START: Readonly<Record<Role, Start>> = {
  async serve({ api, upstreamPort }, port) {
    const config = await openConfig();
    const program = runPortolan([
      ...['serve', `--dns-bind-address=${ADDRESS}`, `--dns-port=${port}`, `--healthz-port=${ADDRESS}:0`],
      ...[`--kube-master-url=${api}`, `--upstream=${ADDRESS}:${upstreamPort}`, `--config-dir=${config.path}`],
    ]);
    return { program, spoil: () => config.write(FAULTY_STUB_DOMAINS) };
  },
  async 'kube-dns'({ api, upstreamPort }, port) {
    const config = await openConfig();
    const program = runPortolan([
      ...['kube-dns', `--dns-bind-address=${ADDRESS}`, `--dns-port=${port}`, `--healthz-port=${ADDRESS}:0`],
      ...[`--kube-master-url=${api}`, `--nameservers=${ADDRESS}:${upstreamPort}`],
      `--config-dir=${config.path}`,
    ]);
    return { program, spoil: () => config.write(FAULTY_STUB_DOMAINS) };
  },
  async coredns({ api, upstreamPort }, port) {
    const file = join((await makeTemporaryFolder()).path, 'Corefile');
    const write = (cluster: string) =>
      writeFile(
        file,
        `.:${port} {\n bind ${ADDRESS}\n kubernetes cluster.local in-addr.arpa ${cluster}\n cache 30\n loop\n forward . ${ADDRESS}:${upstreamPort}\n}\n`,
      );
    await write(`{\n  endpoint ${api}\n }`);
    const program = runPortolan(['coredns', '-conf', file]);
    const spoil = async () => {
      await write('{\n  endpiont http://127.0.0.1:1\n }');
      program.signal('SIGUSR1');
    };
    return { program, spoil };
  },
  async 'node-cache'({ api, upstreamPort }, port) {
    const cluster = await servePortolan([`--kube-master-url=${api}`, '--upstream=none']);
    const { path } = await makeTemporaryFolder();
    const config = await openConfig();
    const block = (zone: string, server: number, further: string) =>
      `${zone}:${port} {\n bind __PILLAR__LOCAL__DNS__\n cache 30\n ${further}\n forward . ${ADDRESS}:${server}\n}\n`;
    const template = block('cluster.local', cluster.port, '') + block('.', upstreamPort, 'loop');
    await writeFile(join(path, 'Corefile.base'), template);
    const program = runPortolan([
      ...['node-cache', '-localip', ADDRESS, '-dns.port', String(port)],
      ...['-setupinterface=false', '-setupiptables=false', '-metrics-listen-address', `${ADDRESS}:0`],
      ...['-conf', join(path, 'Corefile'), '-basecorefile', join(path, 'Corefile.base')],
      ...['-kubednscm', config.path],
    ]);
    return { program, spoil: () => config.write(FAULTY_STUB_DOMAINS) };
  },
};

/** A list where the domains must be. */
const FAULTY_STUB_DOMAINS = { stubDomains: '["corp.example"]' };

async function openConfig(): Promise<ConfigMapVolume> {
  const folder = join((await makeTemporaryFolder()).path, 'config');
  await mkdir(folder);
  const volume = new ConfigMapVolume(folder);
  await volume.write({});
  return volume;
}
