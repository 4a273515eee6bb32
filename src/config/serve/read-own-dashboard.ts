/**
 * Reads the flags of a server's own dashboard to its plan.
 */
import { isLoopback } from '../../listen/local-addresses.ts';
import type { OwnDashboardPlan } from '../plan.ts';
import { readPlace } from './pod-flags.ts';
import type { ServeFlagReader } from './serve-flags.ts';

const FLAG = '--dashboard';
const HOST_FLAG = '--dashboard-host';
const LOOPBACK = '127.0.0.1';
/** A name or an IPv4 address. */
const HOST = /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/;

/** @returns undefined if there is none */
export function readOwnDashboard(read: ServeFlagReader): OwnDashboardPlan | undefined {
  read.requireWith('dashboard-host', 'dashboard', 'give');
  const text = read.value('dashboard');
  if (text === undefined) return undefined;
  const hosts = read.texts('dashboard-host').map((host) => readHost(read, host));
  const { address = LOOPBACK, port } = readPlace(read, FLAG, text);
  if (!isLoopback(address) && hosts.length === 0)
    read.addProblem(
      FLAG,
      'not an address of loopback',
      address,
      `Give ${LOOPBACK} or ::1, or name the host that browsers open with ${HOST_FLAG}.`,
    );
  return { address, port, hosts };
}

function readHost(read: ServeFlagReader, given: string): string {
  const host = given.toLowerCase();
  if (!HOST.test(host))
    read.addProblem(HOST_FLAG, 'not a host', given, 'Give a name such as dns.example, without a port.');
  return host;
}
