/**
 * The servers of a cluster, each with the same API server and upstream server.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import { findFreePort } from '../../src/base/testing/free-port.ts';
import { makeTemporaryFolder } from '../../src/base/testing/temporary-folder.ts';
import type { Server } from '../../src/chain/testing/ask.ts';
import { NoServerError, requestControl } from '../../src/observe/control/control-client.ts';
import type { Diagnosis } from '../../src/reasons/finding.ts';
import type { ServerStatus } from '../../src/server/control/status.ts';
import { ConfigMapVolume } from '../pod/config-map.ts';
import { socketOf } from '../support/control.ts';
import { type Program, runPortolan, servePortolan } from '../support/portolan.ts';

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
  /** Puts its clock forward. */
  age(): void;
}

export interface RoleOptions {
  /** Where it answers. Default: any free port. */
  readonly port?: number | undefined;
  /** When its files go: `afterFile` in a `beforeAll`, else with the test. */
  readonly atEnd?: AtEnd;
}

type AtEnd = NonNullable<Parameters<typeof makeTemporaryFolder>[0]>;

const ADDRESS = '127.0.0.1';
/** Seconds that a clock is put forward. */
const LATER = 100;
/** Runs in the server before its program: the signal puts its monotonic clock forward, and no test waits for data to grow old. */
const OLDER_ON_SIGNAL = `
let later = 0;
const { hrtime } = process;
process.hrtime = Object.assign((since) => {
  const [seconds, rest] = hrtime(since);
  return since === undefined ? [seconds + later, rest] : [seconds, rest];
}, hrtime);
process.on('SIGURG', () => { later += ${LATER}; });
`;
const environment = {
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(OLDER_ON_SIGNAL)}`,
};

/** Runs a server until it has its control socket; it may still wait for the API server. */
export async function startRole(
  role: Role,
  world: World,
  { port: given, atEnd = onTestFinished }: RoleOptions = {},
): Promise<RunningRole> {
  const port = given ?? (await findFreePort());
  const { program, spoil } = await START[role](world, port, atEnd);
  const server = {
    ...{ role, address: ADDRESS, port, socket: socketOf(program, role), spoil },
    age: () => program.signal('SIGURG'),
  };
  await untilStatus(server, () => true);
  return server;
}

/** Undefined: there is no control socket yet. */
async function statusOf(server: Pick<RunningRole, 'socket'>): Promise<ServerStatus | undefined> {
  return (await answerOf(server, 'status')) as ServerStatus | undefined; // Our own format.
}

/** Undefined: there is no control socket yet. */
async function answerOf(
  { socket }: Pick<RunningRole, 'socket'>,
  verb: string,
  words: readonly string[] = [],
) {
  try {
    for await (const data of requestControl(socket, { verb, words })) return data;
    return undefined;
  } catch (error) {
    if (error instanceof NoServerError) return undefined;
    throw error;
  }
}

/** Waits for a fact of the status of a server. @param step before each look */
export async function untilStatus(
  server: RunningRole,
  isSo: (status: ServerStatus) => boolean,
  step: () => Promise<void> = async () => {},
): Promise<void> {
  await until(async () => {
    await step();
    const status = await statusOf(server);
    return status !== undefined && isSo(status);
  });
}

/** Waits until the server finds this wrong with itself. */
export async function untilFound(server: RunningRole, cause: string): Promise<void> {
  await until(async () => {
    const diagnosis = (await answerOf(server, 'doctor', ['watch=0s'])) as Diagnosis | undefined; // Our own format.
    return diagnosis?.findings.some(({ kind }) => kind === cause) === true;
  });
}

/** Also in hooks. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  const check = async () => {
    if (!(await isSo())) throw new Error('not yet');
  };
  await vi.waitFor(check, { timeout: 60_000, interval: 100 });
}

type Start = (
  world: World,
  port: number,
  atEnd: AtEnd,
) => Promise<{ readonly program: Program; spoil(): Promise<void> }>;

const START: Readonly<Record<Role, Start>> = {
  async serve({ api, upstreamPort }, port, atEnd) {
    const config = await openConfig(atEnd);
    const program = runPortolan(
      [
        ...['serve', `--dns-bind-address=${ADDRESS}`, `--dns-port=${port}`, `--healthz-port=${ADDRESS}:0`],
        ...[
          `--kube-master-url=${api}`,
          `--upstream=${ADDRESS}:${upstreamPort}`,
          `--config-dir=${config.path}`,
        ],
      ],
      { environment },
    );
    return { program, spoil: () => config.write(FAULTY_STUB_DOMAINS) };
  },
  async 'kube-dns'({ api, upstreamPort }, port, atEnd) {
    const config = await openConfig(atEnd);
    const program = runPortolan(
      [
        ...['kube-dns', `--dns-bind-address=${ADDRESS}`, `--dns-port=${port}`, `--healthz-port=${ADDRESS}:0`],
        ...[`--kube-master-url=${api}`, `--nameservers=${ADDRESS}:${upstreamPort}`],
        `--config-dir=${config.path}`,
      ],
      { environment },
    );
    return { program, spoil: () => config.write(FAULTY_STUB_DOMAINS) };
  },
  async coredns({ api, upstreamPort }, port, atEnd) {
    const file = join((await makeTemporaryFolder(atEnd)).path, 'Corefile');
    const write = (cluster: string) =>
      writeFile(
        file,
        `.:${port} {\n bind ${ADDRESS}\n kubernetes cluster.local in-addr.arpa ${cluster}\n cache 30\n loop\n forward . ${ADDRESS}:${upstreamPort}\n}\n`,
      );
    await write(`{\n  endpoint ${api}\n }`);
    const program = runPortolan(['coredns', '-conf', file], { environment });
    const spoil = async () => {
      await write('{\n  endpiont http://127.0.0.1:1\n }');
      program.signal('SIGUSR1');
    };
    return { program, spoil };
  },
  async 'node-cache'({ api, upstreamPort }, port, atEnd) {
    const cluster = { port: await findFreePort() };
    const serving = servePortolan([`--kube-master-url=${api}`, '--upstream=none'], cluster);
    const { path } = await makeTemporaryFolder(atEnd);
    const config = await openConfig(atEnd);
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
