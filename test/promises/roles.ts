/**
 * The roles of the program that serve DNS, each started as its users start it, on loopback.
 */
import { findFreePort } from '../../src/base/testing/free-port.ts';
import { makeTemporaryFolder } from '../../src/base/testing/temporary-folder.ts';
import { waitUntil } from '../../src/base/testing/wait-until.ts';
import { startEtcd } from '../etcd/etcd-server.ts';
import { type Program, type RunOptions, runPortolan } from '../support/portolan.ts';
import { hasTool } from '../support/tools.ts';

export const ROLES = ['serve', 'kube-dns', 'coredns', 'node-cache', 'dnsmasq', 'skydns'] as const;
export type Role = (typeof ROLES)[number];

/** What a role serves and asks. */
export interface World {
  /** The port of the upstream server on 127.0.0.1. */
  readonly upstream: number;
  /** The port of the server for `silent.test`, which says nothing. */
  readonly silent?: number;
  /** A zone file for `zone.test`. */
  readonly zone?: string;
}

export interface RunningRole {
  readonly program: Program;
  readonly address: string;
  readonly port: number;
}

const HOST = '127.0.0.1';

/** Starts a role with plain options: those of its documentation, and no limits of its own. */
export async function startRole(role: Role, world: World, options?: RunOptions): Promise<RunningRole> {
  const port = await findFreePort();
  const start = STARTS[role];
  const program = await start(port, world, (words) => runPortolan(words, options));
  return { program, address: HOST, port };
}

/** Whether this machine can run a role. */
export const canRun = (role: Role): boolean => role !== 'skydns' || hasTool('etcd');

type Run = (words: readonly string[]) => Program;
type Start = (port: number, world: World, run: Run) => Promise<Program>;

const STARTS: Readonly<Record<Role, Start>> = {
  serve: async (port, world, run) => {
    const { upstream, silent } = world;
    const program = run([
      ...['serve', '--example', '--dns-bind-address', HOST, '--dns-port', String(port)],
      ...['--healthz-port', `${HOST}:0`, '--log-format=json', `--upstream=${HOST}:${upstream}`],
      ...(silent === undefined ? [] : [`--stub-domain=silent.test=${HOST}:${silent}`]),
      ...(await extraBlocks(world, '--blocks-extra')),
    ]);
    await program.heard('serving');
    return program;
  },
  'kube-dns': async (port, world, run) => {
    const { upstream, silent } = world;
    const folder = await makeTemporaryFolder();
    await folder.write('upstreamNameservers', JSON.stringify([`${HOST}:${upstream}`]));
    if (silent !== undefined)
      await folder.write('stubDomains', JSON.stringify({ 'silent.test': [`${HOST}:${silent}`] }));
    const program = run([
      ...['kube-dns', '--example', `--dns-bind-address=${HOST}`, `--dns-port=${port}`],
      ...[`--healthz-port=${HOST}:0`, '--log-format=json', `--config-dir=${folder.path}`],
      ...(await extraBlocks(world, '--blocks-extra')),
    ]);
    await program.heard('serving');
    return program;
  },
  coredns: async (port, world, run) => {
    const conf = await writeCorefile(port, world);
    return await withBanner(run(['coredns', '-conf', conf]));
  },
  'node-cache': async (port, world, run) => {
    const conf = await writeCorefile(port, world);
    const fixed = ['-setupinterface=false', '-setupiptables=false', '-metrics-listen-address', `${HOST}:0`];
    return await withBanner(run(['node-cache', '-conf', conf, '-localip', HOST, ...fixed]));
  },
  dnsmasq: async (port, world, run) => {
    const { upstream, silent } = world;
    const program = run([
      ...['dnsmasq', '-k', '--pid-file=', '--log-facility=-', '--user=', '--group=', '--no-resolv'],
      ...[`--listen-address=${HOST}`, '--bind-interfaces', `--port=${port}`, '--no-hosts'],
      `--server=${HOST}#${upstream}`,
      ...(silent === undefined ? [] : [`--server=/silent.test/${HOST}#${silent}`]),
      ...(await extraBlocks(world, '--blocks-extra')),
    ]);
    await waitUntil('dnsmasq', () => /started, version/.test(program.errors), { deadline: 15_000 });
    return program;
  },
  skydns: async (port, world, run) => {
    const { upstream, silent } = world;
    const etcd = await startEtcd();
    if (silent !== undefined) {
      const value = JSON.stringify({ host: HOST, port: silent });
      await etcd.control('put', '/skydns/local/skydns/dns/stub/silent.test/x', value);
    }
    const program = run([
      ...['skydns', '-etcd3', '-machines', etcd.first.url, '-addr', `${HOST}:${port}`],
      ...['-nameservers', `${HOST}:${upstream}`, '-stubzones'],
      ...(await extraBlocks(world, '-blocks-extra')),
    ]);
    await program.heard('ready for queries');
    return program;
  },
};

async function withBanner(program: Program): Promise<Program> {
  const isThere = () => program.output.includes('linux/') || program.ended !== undefined;
  await waitUntil('the banner', isThere, { deadline: 15_000 });
  if (program.ended !== undefined) throw new Error(`it does not run: ${program.errors}${program.output}`);
  return program;
}

async function writeCorefile(port: number, { upstream, silent, zone }: World): Promise<string> {
  const folder = await makeTemporaryFolder();
  const common = ` bind ${HOST}\n errors\n cache 30\n loadbalance\n`;
  const blocks = [`.:${port} {\n${common} forward . ${HOST}:${upstream}\n}\n`];
  if (silent !== undefined) blocks.push(`silent.test:${port} {\n${common} forward . ${HOST}:${silent}\n}\n`);
  if (zone !== undefined) {
    const file = await folder.write('zone', zone);
    blocks.push(`zone.test:${port} {\n bind ${HOST}\n errors\n file ${file}\n}\n`);
  }
  return await folder.write('Corefile', blocks.join(''));
}

async function extraBlocks({ zone }: World, flag: string): Promise<readonly string[]> {
  if (zone === undefined) return [];
  const folder = await makeTemporaryFolder();
  const file = await folder.write('zone', zone);
  return [`${flag}=${await folder.write('extra', `. {\n file ${file} zone.test\n}\n`)}`];
}
