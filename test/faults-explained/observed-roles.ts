/**
 * The servers of a cluster, each with the same API server and upstream server.
 */

import type { ServerStatus } from '@portolan/ops/control/status.ts';
import { NoServerError, requestControl } from '@portolan/server/observe/control/control-client.ts';
import type { Diagnosis } from '@portolan/server/reasons/finding.ts';
import type { DnsServer } from '@portolan/testing/client/dns-client.ts';
import { onTestFinished, vi } from 'vitest';
import { formatSocketName } from '../support/control.ts';
import {
  type AtEnd,
  CLUSTER_ROLES,
  type ClusterRole,
  type ClusterWorld,
  startClusterRole,
} from '../support/roles.ts';

export const ROLES = CLUSTER_ROLES;

export interface ObservedRole extends DnsServer {
  readonly role: ClusterRole;
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
export async function startObserved(
  role: ClusterRole,
  world: ClusterWorld,
  { port, atEnd = onTestFinished }: RoleOptions = {},
): Promise<ObservedRole> {
  const running = await startClusterRole(role, world, { port, atEnd, environment });
  const { program, address, spoil } = running;
  const server = {
    role,
    address,
    port: running.port,
    socket: formatSocketName(program, role),
    spoil,
    age: () => program.signal('SIGURG'),
  };
  await untilStatus(server, () => true);
  return server;
}

/** Undefined: there is no control socket yet. */
async function askStatus(server: Pick<ObservedRole, 'socket'>): Promise<ServerStatus | undefined> {
  return (await requestAnswer(server, 'status')) as ServerStatus | undefined; // Our own format.
}

/** Undefined: there is no control socket yet. */
async function requestAnswer(
  { socket }: Pick<ObservedRole, 'socket'>,
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
  server: ObservedRole,
  isSo: (status: ServerStatus) => boolean,
  step: () => Promise<void> = async () => {},
): Promise<void> {
  await until(async () => {
    await step();
    const status = await askStatus(server);
    return status !== undefined && isSo(status);
  });
}

/** Waits until the server finds this wrong with itself. */
export async function untilFound(server: ObservedRole, cause: string): Promise<void> {
  await until(async () => {
    const diagnosis = (await requestAnswer(server, 'doctor', ['watch=0s'])) as Diagnosis | undefined; // Our own format.
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
