/**
 * Reads what the checks of a node look at. What cannot be read is left out, so that the checks say that they did not look.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { RunProgram } from '@portolan/kernel/base/run-program.ts';
import { parseResolvConf, parseSearchDomains } from '@portolan/kernel/forward/resolv-conf.ts';
import type {
  ConntrackEvidence,
  Growth,
  NameserverEvidence,
  NodeEvidence,
  NodeResolvConf,
  UdpEvidence,
} from '@portolan/server/reasons/node-evidence.ts';
import { parseConntrackCounters, parseUdp6Counters, parseUdpCounters } from './kernel-counters.ts';
import { findLocalListeners } from './local-listeners.ts';
import { isNameserverAnswering } from './nameserver-probe.ts';
import { readPacketRules } from './read-packet-rules.ts';

export interface NodeReading {
  /** The folder of the node's file system: `/`, or where it is mounted. */
  readonly root: string;
  /** Milliseconds between two readings of each counter. */
  readonly watch: number;
  /** Whether to query the name servers of the node. */
  readonly asks: boolean;
  /** Runs programs of the node. */
  readonly run: RunProgram;
  readonly clock: Clock;
}

interface KernelCounters {
  readonly conntrack: ReadonlyMap<string, number> | undefined;
  readonly udp: ReadonlyMap<string, number> | undefined;
  readonly udp6: ReadonlyMap<string, number> | undefined;
}

const DNS_PORT = 53;
const KUBELET_CONFIG = 'var/lib/kubelet/config.yaml';

/** Never rejects. */
export async function readNodeEvidence(reading: NodeReading): Promise<NodeEvidence> {
  const { root, watch, asks, run, clock } = reading;
  const read = (path: string) => readIfThere(join(root, path));
  const listeners = await readListeners(read);
  const local = (listeners ?? []).map(({ address }) => address);
  const before = await readCounters(read);
  const resolvConf = await readNodeResolvConf(read, local);
  const [rules, nameservers] = await Promise.all([
    listeners && readPacketRules({ addresses: local, dnsPort: DNS_PORT }, run),
    asks && resolvConf !== undefined ? askNameservers(resolvConf, clock) : undefined,
    new Promise<void>((resolve) => clock.after(watch, resolve)),
  ]);
  const after = await readCounters(read);
  const conntrack = await conntrackEvidence(before, after, read);
  return { conntrack, udp: udpEvidence(before, after), listeners, rules, resolvConf, nameservers };
}

type ReadNodeFile = (path: string) => Promise<string | undefined>;

async function readIfThere(path: string): Promise<string | undefined> {
  return await readFile(path, 'utf8').catch(() => undefined);
}

async function readListeners(read: ReadNodeFile): Promise<NodeEvidence['listeners']> {
  const [trie, sockets] = await Promise.all([read('proc/net/fib_trie'), read('proc/net/udp')]);
  return trie === undefined || sockets === undefined ? undefined : findLocalListeners(trie, sockets);
}

async function readCounters(read: ReadNodeFile): Promise<KernelCounters> {
  const [conntrack, udp, udp6] = await Promise.all([
    read('proc/net/stat/nf_conntrack'),
    read('proc/net/snmp'),
    read('proc/net/snmp6'),
  ]);
  return {
    conntrack: conntrack === undefined ? undefined : parseConntrackCounters(conntrack),
    udp: udp === undefined ? undefined : parseUdpCounters(udp),
    udp6: udp6 === undefined ? undefined : parseUdp6Counters(udp6),
  };
}

async function conntrackEvidence(
  before: KernelCounters,
  after: KernelCounters,
  read: ReadNodeFile,
): Promise<ConntrackEvidence | undefined> {
  const folder = 'proc/sys/net/netfilter/nf_conntrack';
  const [entries, maxEntries] = await Promise.all([read(`${folder}_count`), read(`${folder}_max`)]);
  if (after.conntrack === undefined || entries === undefined || maxEntries === undefined) return undefined;
  const growth = (name: string) => computeGrowth(name, [before.conntrack], [after.conntrack]);
  return {
    entries: Number(entries),
    maxEntries: Number(maxEntries),
    insertFailed: growth('insert_failed'),
    dropped: growth('drop'),
    earlyDropped: growth('early_drop'),
  };
}

/** Both families together: tools of the system show them apart, and a cause is seldom in one of them alone. */
function udpEvidence(before: KernelCounters, after: KernelCounters): UdpEvidence | undefined {
  if (after.udp === undefined) return undefined;
  const growth = (...names: readonly string[]) =>
    names
      .map((name) => computeGrowth(name, [before.udp, before.udp6], [after.udp, after.udp6]))
      .reduce((sum, each) => ({ total: sum.total + each.total, recent: sum.recent + each.recent }));
  const bufferErrors = growth('RcvbufErrors', 'SndbufErrors', 'MemErrors');
  const checksumErrors = growth('InCsumErrors');
  const errors = growth('InErrors');
  // All that come in vain are errors; those of buffers and checksums have counters of their own.
  const known = growth('RcvbufErrors', 'MemErrors', 'InCsumErrors');
  const refused = {
    total: Math.max(0, errors.total - known.total),
    recent: Math.max(0, errors.recent - known.recent),
  };
  return { received: growth('InDatagrams'), bufferErrors, checksumErrors, refused };
}

type CountersReading = readonly (ReadonlyMap<string, number> | undefined)[];

function computeGrowth(name: string, before: CountersReading, after: CountersReading): Growth {
  const sum = (reading: CountersReading) =>
    reading.reduce((total, each) => total + (each?.get(name) ?? 0), 0);
  const total = sum(after);
  return { total, recent: Math.max(0, total - sum(before)) };
}

/** The file of kubelet's configuration, else `/etc/resolv.conf`. */
async function readNodeResolvConf(
  read: ReadNodeFile,
  localAddresses: readonly string[],
): Promise<NodeResolvConf | undefined> {
  const [, configured] = /^resolvConf: *"?([^"\n#]+?)"? *$/m.exec((await read(KUBELET_CONFIG)) ?? '') ?? [];
  const path = configured ?? '/etc/resolv.conf';
  const text = await read(path);
  if (text === undefined) return undefined;
  const { servers, problems } = parseResolvConf(text);
  return {
    path,
    search: parseSearchDomains(text),
    localAddresses,
    nameservers: servers.flatMap(({ host }) => (host.kind === 'address' ? host.address : [])),
    problems: problems.map(({ line, message }) => `line ${line}: ${message}`),
  };
}

async function askNameservers(
  { nameservers }: NodeResolvConf,
  clock: Clock,
): Promise<readonly NameserverEvidence[]> {
  return await Promise.all(
    nameservers.map(async (server) => ({
      server,
      isAnswering: await isNameserverAnswering(server, DNS_PORT, clock),
    })),
  );
}
