/**
 * The dashboard that a server shows of itself: its flags, for every role, and what they ask for.
 */
import { isLoopback } from '@portolan/kernel/listen/local-addresses.ts';
import type { Flag } from '../flags/flag.ts';
import type { NameIn } from '../flags/flag-reader.ts';
import { readPlace } from '../values/place.ts';
import type { ValueReader } from '../values/value-reader.ts';

export interface OwnDashboardPlan {
  readonly address: string;
  /** 0: any free port. */
  readonly port: number;
  /** By which browsers may open it, beside loopback; in lower case. */
  readonly hosts: readonly string[];
}

const DASHBOARD = 'Dashboard';

export const OWN_DASHBOARD_FLAGS = [
  {
    name: 'dashboard',
    valueName: 'place',
    value: { kind: 'text', of: 'a port, or an address and a port' },
    help: 'show the dashboard of this server at a port of 127.0.0.1, or at this address and port',
    details:
      'The log has [the address to open](../how-to/dashboard.md#one-server). Addresses of loopback only, unless `--dashboard-host` is given; port 0 takes a free one.',
    group: DASHBOARD,
  },
  {
    name: 'dashboard-host',
    valueName: 'host',
    value: { kind: 'text', of: 'a host' },
    repeats: true,
    help: 'name by which browsers may open the dashboard from elsewhere',
    details:
      'As in `dns.example`. The page and its token may then be sent over the network, without encryption.',
    group: DASHBOARD,
  },
] as const satisfies readonly Flag[];

/** The flag reader of any server. */
export interface OwnDashboardReader extends ValueReader {
  value(name: 'dashboard'): string | undefined;
  texts(name: OwnDashboardFlag): readonly string[];
  shown(name: OwnDashboardFlag): string;
  requireWith(name: OwnDashboardFlag, other: OwnDashboardFlag, remedy: string): void;
}

type OwnDashboardFlag = NameIn<typeof OWN_DASHBOARD_FLAGS>;

const LOOPBACK = '127.0.0.1';
/** A name or an IPv4 address. */
const HOST = /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/;

/** @returns undefined if there is none */
export function readOwnDashboard(read: OwnDashboardReader): OwnDashboardPlan | undefined {
  read.requireWith('dashboard-host', 'dashboard', 'give');
  const text = read.value('dashboard');
  if (text === undefined) return undefined;
  const hosts = read.texts('dashboard-host').map((host) => readHost(read, host));
  const where = read.shown('dashboard');
  const { address = LOOPBACK, port } = readPlace(read, where, text);
  if (!isLoopback(address) && hosts.length === 0)
    read.addProblem(
      where,
      'not an address of loopback',
      address,
      `Give ${LOOPBACK} or ::1, or name the host that browsers open with ${read.shown('dashboard-host')}.`,
    );
  return { address, port, hosts };
}

function readHost(read: OwnDashboardReader, given: string): string {
  const host = given.toLowerCase();
  if (!HOST.test(host))
    read.addProblem(
      read.shown('dashboard-host'),
      'not a host',
      given,
      'Give a name such as dns.example, without a port.',
    );
  return host;
}
