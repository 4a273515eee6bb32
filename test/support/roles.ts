/**
 * The roles of the program that serve DNS, each started as its users start it, on loopback.
 */

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import type { Program } from '@portolan/testing/program.ts';
import { onTestFinished } from 'vitest';
import { startEtcd } from '../etcd/etcd-server.ts';
import { ConfigMapVolume } from '../pod/config-map.ts';
import { type RunOptions, runPortolan, servePortolan } from './portolan.ts';
import { hasTool } from './tools.ts';

export const ROLES = ['serve', 'kube-dns', 'coredns', 'node-cache', 'dnsmasq', 'skydns'] as const;
/** With those that run the server of another role. */
export const ALL_ROLES = [...ROLES, 'dnsmasq-nanny'] as const;
export type Role = (typeof ALL_ROLES)[number];
/** Roles with a cluster behind them. */
export const CLUSTER_ROLES = [
  'serve',
  'kube-dns',
  'coredns',
  'node-cache',
] as const satisfies readonly Role[];
export type ClusterRole = (typeof CLUSTER_ROLES)[number];

/** What a role serves and asks. */
export interface World {
  /** The port of the upstream server on 127.0.0.1. */
  readonly upstream: number;
  /** The port of the server for `silent.test`, which says nothing. */
  readonly silent?: number;
  /** A zone file for `zone.test`. */
  readonly zone?: string;
  /** Further directives of a Corefile, for `waiting.test`. */
  readonly directives?: string;
  /** Directives of a Corefile that join the block for all names: of roles without a Corefile by a file of its own. */
  readonly joining?: string;
  /** Flags of `serve` and `kube-dns` in place of the example. */
  readonly cluster?: readonly string[];
}

/** The same for a role with the API server of a cluster. */
export interface ClusterWorld {
  readonly upstream: number;
  /** The URL of the API server. */
  readonly api: string;
}

/** When files go: `afterFile` in a `beforeAll`, else with the test. */
export type AtEnd = NonNullable<Parameters<typeof makeTemporaryFolder>[0]>;

export interface RunningRole {
  readonly program: Program;
  readonly address: string;
  readonly port: number;
}

export interface RunningClusterRole extends RunningRole {
  /** Gives it a configuration with an error. */
  spoil(): Promise<void>;
}

export const HOST = '127.0.0.1';

/** Starts a role with plain options: those of its documentation, and no limits of its own. */
export async function startRole(
  role: Role,
  world: World,
  options?: RunOptions & { readonly flags?: readonly string[] },
): Promise<RunningRole> {
  const running = await launchRole(role, world, options);
  await untilServing(role, running.program);
  return running;
}

/** Runs a role with plain options, and does not wait until it serves. */
export async function launchRole(
  role: Role,
  world: World,
  options?: RunOptions & { readonly flags?: readonly string[]; readonly port?: number },
): Promise<RunningRole> {
  const { flags = [], port = await findFreePort(), ...run } = options ?? {};
  const program = runPortolan([...(await WORDS[role](port, world)), ...flags], run);
  return { program, address: HOST, port };
}

/** @throws Error if it ends instead */
async function untilServing(role: Role, program: Program): Promise<void> {
  const isThere = () => isServing(role, program) || program.ended !== undefined;
  await waitUntil(role, isThere, { deadline: 30_000 });
  if (program.ended !== undefined) throw new Error(`it does not run: ${program.errors}${program.output}`);
}

/** Whether it has said that it serves. */
export const isServing = (role: Role, { errors, output }: Program): boolean =>
  SIGNS[role].test(`${errors}${output}`);

/** What a role says when it serves. */
const SIGNS: Readonly<Record<Role, RegExp>> = {
  serve: /"message":"serving"/,
  'kube-dns': /"message":"serving"/,
  coredns: /linux\//,
  'node-cache': /linux\//,
  dnsmasq: /started, version/,
  skydns: /ready for queries/,
  'dnsmasq-nanny': /started, version/,
};

/** Starts a role with an API server. It may still wait for it. */
export async function startClusterRole(
  role: ClusterRole,
  world: ClusterWorld,
  options?: RunOptions & { readonly port?: number | undefined; readonly atEnd?: AtEnd },
): Promise<RunningClusterRole> {
  const { port = await findFreePort(), atEnd = onTestFinished, ...run } = options ?? {};
  const start = CLUSTER_STARTS[role];
  const started = await start(port, world, (words) => runPortolan(words, run), atEnd);
  return { ...started, address: HOST, port };
}

/** Whether this machine can run a role. */
export const canRun = (role: Role): boolean => role !== 'skydns' || hasTool('etcd');

type Run = (words: readonly string[]) => Program;
type Words = (port: number, world: World) => Promise<readonly string[]>;
type ClusterStart = (
  port: number,
  world: ClusterWorld,
  run: Run,
  atEnd: AtEnd,
) => Promise<Pick<RunningClusterRole, 'program' | 'spoil'>>;

/** Words that `serve` and `kube-dns` share. */
const listening = (command: string, port: number) => [
  command,
  `--dns-bind-address=${HOST}`,
  `--dns-port=${port}`,
  `--healthz-port=${HOST}:0`,
];
/** Words without which `node-cache` changes the node. */
const UNPRIVILEGED = [
  '-setupinterface=false',
  '-setupiptables=false',
  '-metrics-listen-address',
  `${HOST}:0`,
];

const EXAMPLE = ['--example'];

const WORDS: Readonly<Record<Role, Words>> = {
  async serve(port, world) {
    const { upstream, silent, cluster = EXAMPLE } = world;
    return [
      ...listening('serve', port),
      ...cluster,
      '--log-format=json',
      `--upstream=${HOST}:${upstream}`,
      ...(silent === undefined ? [] : [`--stub-domain=silent.test=${HOST}:${silent}`]),
      ...(await extraBlocks(world, '--blocks-extra')),
    ];
  },
  async 'kube-dns'(port, world) {
    const { upstream, silent, cluster = EXAMPLE } = world;
    const folder = await makeTemporaryFolder();
    await folder.write('upstreamNameservers', JSON.stringify([`${HOST}:${upstream}`]));
    if (silent !== undefined)
      await folder.write('stubDomains', JSON.stringify({ 'silent.test': [`${HOST}:${silent}`] }));
    return [
      ...listening('kube-dns', port),
      ...cluster,
      '--log-format=json',
      `--config-dir=${folder.path}`,
      ...(await extraBlocks(world, '--blocks-extra')),
    ];
  },
  coredns: async (port, world) => ['coredns', '-conf', await writeCorefile(port, world)],
  async 'node-cache'(port, world) {
    const conf = await writeCorefile(port, world);
    return ['node-cache', '-conf', conf, '-localip', HOST, ...UNPRIVILEGED];
  },
  async dnsmasq(port, world) {
    return ['dnsmasq', '--pid-file=', '--user=', '--group=', ...(await dnsmasqOptions(port, world))];
  },
  async skydns(port, world) {
    const { upstream, silent } = world;
    const etcd = await startEtcd();
    if (silent !== undefined) {
      const value = JSON.stringify({ host: HOST, port: silent });
      await etcd.control('put', '/skydns/local/skydns/dns/stub/silent.test/x', value);
    }
    return [
      'skydns',
      '-etcd3',
      '-machines',
      etcd.first.url,
      '-addr',
      `${HOST}:${port}`,
      '-nameservers',
      `${HOST}:${upstream}`,
      '-stubzones',
      ...(await extraBlocks(world, '-blocks-extra')),
    ];
  },
  async 'dnsmasq-nanny'(port, world) {
    const { path } = await makeTemporaryFolder();
    const own = ['--conf-file=/dev/null', '--pid-file='];
    return ['dnsmasq-nanny', `-configDir=${path}`, '--', ...own, ...(await dnsmasqOptions(port, world))];
  },
};

async function dnsmasqOptions(port: number, world: World): Promise<readonly string[]> {
  const { upstream, silent } = world;
  return [
    '-k',
    '--log-facility=-',
    '--no-resolv',
    '--no-hosts',
    `--listen-address=${HOST}`,
    '--bind-interfaces',
    `--port=${port}`,
    `--server=${HOST}#${upstream}`,
    ...(silent === undefined ? [] : [`--server=/silent.test/${HOST}#${silent}`]),
    ...(await extraBlocks(world, '--blocks-extra')),
  ];
}

const CLUSTER_STARTS: Readonly<Record<ClusterRole, ClusterStart>> = {
  async serve(port, { api, upstream }, run, atEnd) {
    const config = await openConfig(atEnd);
    const program = run([
      ...listening('serve', port),
      `--kube-master-url=${api}`,
      `--upstream=${HOST}:${upstream}`,
      `--config-dir=${config.path}`,
      // With a ConfigMap, metrics have ports of their own, which only one process can have.
      '--prometheus-port=none',
      '--sidecar-port=none',
    ]);
    return { program, spoil: () => config.write(FAULTY_STUB_DOMAINS) };
  },
  async 'kube-dns'(port, { api, upstream }, run, atEnd) {
    const config = await openConfig(atEnd);
    const program = run([
      ...listening('kube-dns', port),
      `--kube-master-url=${api}`,
      `--nameservers=${HOST}:${upstream}`,
      `--config-dir=${config.path}`,
    ]);
    return { program, spoil: () => config.write(FAULTY_STUB_DOMAINS) };
  },
  async coredns(port, { api, upstream }, run, atEnd) {
    const file = join((await makeTemporaryFolder(atEnd)).path, 'Corefile');
    const write = (cluster: string) =>
      writeFile(
        file,
        `.:${port} {\n bind ${HOST}\n kubernetes cluster.local in-addr.arpa ${cluster}\n cache 30\n loop\n forward . ${HOST}:${upstream}\n}\n`,
      );
    await write(`{\n  endpoint ${api}\n }`);
    const program = run(['coredns', '-conf', file]);
    const spoil = async () => {
      await write('{\n  endpiont http://127.0.0.1:1\n }');
      program.signal('SIGUSR1');
    };
    return { program, spoil };
  },
  async 'node-cache'(port, { api, upstream }, _, atEnd) {
    const cluster = { port: await findFreePort() };
    const serving = servePortolan([`--kube-master-url=${api}`, '--upstream=none'], cluster);
    const { path } = await makeTemporaryFolder(atEnd);
    const config = await openConfig(atEnd);
    const block = (zone: string, server: number, further: string) =>
      `${zone}:${port} {\n bind __PILLAR__LOCAL__DNS__\n cache 30\n ${further}\n forward . ${HOST}:${server}\n}\n`;
    const template = block('cluster.local', cluster.port, '') + block('.', upstream, 'loop');
    await writeFile(join(path, 'Corefile.base'), template);
    const program = runPortolan([
      'node-cache',
      '-localip',
      HOST,
      '-dns.port',
      String(port),
      ...UNPRIVILEGED,
      '-conf',
      join(path, 'Corefile'),
      '-basecorefile',
      join(path, 'Corefile.base'),
      '-kubednscm',
      config.path,
    ]);
    await serving;
    return { program, spoil: () => config.write(FAULTY_STUB_DOMAINS) };
  },
};

/** A list where the domains must be. */
const FAULTY_STUB_DOMAINS = { stubDomains: '["corp.example"]' };

async function openConfig(atEnd: AtEnd): Promise<ConfigMapVolume> {
  const folder = join((await makeTemporaryFolder(atEnd)).path, 'config');
  await mkdir(folder);
  const volume = new ConfigMapVolume(folder);
  await volume.write({});
  return volume;
}

async function writeCorefile(port: number, world: World): Promise<string> {
  const { upstream, silent, zone, directives, joining = '' } = world;
  const folder = await makeTemporaryFolder();
  const common = ` bind ${HOST}\n errors\n cache 30\n loadbalance\n`;
  const blocks = [`.:${port} {\n${common} ${joining}\n forward . ${HOST}:${upstream}\n}\n`];
  if (silent !== undefined) blocks.push(`silent.test:${port} {\n${common} forward . ${HOST}:${silent}\n}\n`);
  if (zone !== undefined) {
    const file = await folder.write('zone', zone);
    blocks.push(`zone.test:${port} {\n bind ${HOST}\n errors\n file ${file}\n}\n`);
  }
  if (directives !== undefined) blocks.push(`waiting.test:${port} {\n bind ${HOST}\n ${directives}\n}\n`);
  return await folder.write('Corefile', blocks.join(''));
}

async function extraBlocks({ zone, joining = '' }: World, flag: string): Promise<readonly string[]> {
  if (zone === undefined && joining === '') return [];
  const folder = await makeTemporaryFolder();
  const file = zone === undefined ? '' : ` file ${await folder.write('zone', zone)} zone.test\n`;
  return [`${flag}=${await folder.write('extra', `. {\n ${joining}\n${file}}\n`)}`];
}
