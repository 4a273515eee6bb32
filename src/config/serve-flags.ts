/**
 * The flags of `portolan serve`, from their texts to a plan. Those that kube-dns has keep the names they have there.
 */
import { MOST_READERS } from '../table/writer.ts';
import type { ConfigSources } from './dnsmasq/sources.ts';
import {
  DIALECTS,
  type ListenPlan,
  LOG_FORMATS,
  LOG_LEVELS,
  type LogPlan,
  type ObjectsPlan,
  POD_MODES,
  type ServerPlan,
} from './plan.ts';
import {
  defaultDialect,
  type PodFlags,
  readDynamic,
  readFederationsFlag,
  readPlace,
  readSidecar,
  readSkyDnsMetrics,
  shapeOf,
} from './pod-flags.ts';
import type { Checked } from './problem.ts';
import { type ResolverFlags, readResolver } from './resolver/flags.ts';
import { ValueReader } from './values.ts';

/** What was given on the command line, unchecked. */
export interface ServeFlags extends ResolverFlags, PodFlags {
  readonly domain?: string;
  readonly dnsPort?: string;
  /** Each one or several addresses with commas between them. */
  readonly dnsBindAddress?: readonly string[];
  readonly kubecfgFile?: string;
  readonly context?: string;
  readonly kubeMasterUrl?: string;
  readonly manifests?: string;
  readonly example?: boolean;
  readonly dialect?: string;
  readonly pods?: string;
  readonly ttl?: string;
  readonly udpReaders?: string;
  readonly healthzPort?: string;
  readonly initialSyncTimeout?: string;
  readonly snapshot?: string;
  readonly takeover?: boolean;
  readonly lameduck?: string;
  readonly logLevel?: string;
  readonly logFormat?: string;
}

/** What defaults depend on. */
export interface Machine {
  /** Cores that this process may use, at least 1; may be a fraction under a quota. */
  readonly cores: number;
  /** Whether a person reads the log as it is written. */
  readonly terminal: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Readers are threads of the table too, and the main thread is one more. */
const MOST_UDP_READERS = MOST_READERS - 1;
const PORT = { least: 1, most: 65_535, of: 'a port' };

/**
 * Checks all flags. Every problem is reported, not only the first.
 *
 * @param sources where files that flags name are read from
 * @param command in whose name: what is left out depends on it
 */
export function planFromFlags(
  flags: ServeFlags,
  machine: Machine,
  sources: ConfigSources,
  command: 'serve' | 'kube-dns' = 'serve',
): Checked<ServerPlan> {
  const read = new ValueReader();
  const shape = shapeOf(flags, command);
  const domain = read.zone('--domain', flags.domain, 'cluster.local.');
  const listen = readListen(read, flags, machine);
  const objects = readObjects(read, flags);
  const plan: ServerPlan = {
    cluster: {
      domain,
      dialect: read.choice('--dialect', flags.dialect, DIALECTS, defaultDialect(shape)),
      pods: read.choice('--pods', flags.pods, POD_MODES, 'insecure'),
      ttl: read.integer('--ttl', flags.ttl, { least: 0, most: 3600, of: 'a number of seconds' }, 30),
      objects,
    },
    resolver: readResolver(read, flags, domain, sources),
    listen,
    health: { ...readPlace(read, '--healthz-port', flags.healthzPort ?? '8081'), cache: shape !== 'server' },
    log: readLog(read, flags, machine),
    dynamic: readDynamic(read, flags, objects.kind === 'api-server'),
    federations: readFederationsFlag(read, flags),
    skyDnsMetrics: readSkyDnsMetrics(read, flags, shape, machine.environment),
    sidecar: readSidecar(read, flags, shape, { domain }, listen),
    snapshotFile: read.text('--snapshot', flags.snapshot, 'the path of a file'),
    initialSyncTimeout: read.duration('--initial-sync-timeout', flags.initialSyncTimeout, 60_000),
    lameduck: read.duration('--lameduck', flags.lameduck, 5_000),
  };
  return read.problems.length === 0
    ? { kind: 'good', value: plan }
    : { kind: 'bad', problems: read.problems };
}

function readObjects(read: ValueReader, flags: ServeFlags): ObjectsPlan {
  const kubecfgFile = read.text('--kubecfg-file', flags.kubecfgFile, 'the path of a kubeconfig file');
  const context = read.text('--context', flags.context, 'the name of a context of the kubeconfig file');
  const masterUrl = readMasterUrl(read, flags.kubeMasterUrl);
  const directory = read.text('--manifests', flags.manifests, 'the path of a folder');
  const fromFiles = directory !== undefined || flags.example === true;
  if (directory !== undefined && flags.example === true)
    read.complain(
      '--example',
      'given together with --manifests',
      undefined,
      'Keep one: a server has one cluster.',
    );
  const forCluster = [
    ['--kubecfg-file', kubecfgFile],
    ['--context', context],
    ['--kube-master-url', masterUrl],
  ] as const;
  for (const [flag, value] of fromFiles ? forCluster : []) {
    if (value === undefined) continue;
    const rival = flags.example === true ? '--example' : '--manifests';
    read.complain(
      flag,
      `has no effect beside ${rival}`,
      value,
      'Leave one out: objects come from one place.',
    );
  }
  if (directory !== undefined) return { kind: 'manifests', directory };
  if (flags.example === true) return { kind: 'example' };
  return { kind: 'api-server', kubecfgFile, context, masterUrl };
}

function readMasterUrl(read: ValueReader, text: string | undefined): string | undefined {
  const url = read.text('--kube-master-url', text, 'the URL of an API server');
  if (url === undefined) return undefined;
  const remedy = 'Give one such as https://10.0.0.1:6443.';
  if (!URL.canParse(url)) read.complain('--kube-master-url', 'not a URL', url, remedy);
  else if (!['http:', 'https:'].includes(new URL(url).protocol))
    read.complain('--kube-master-url', 'neither http nor https', url, remedy);
  return url;
}

function readListen(read: ValueReader, flags: ServeFlags, machine: Machine): ListenPlan {
  const readers = { least: 1, most: MOST_UDP_READERS, of: 'a number of threads' };
  return {
    addresses: readBindAddresses(read, flags.dnsBindAddress),
    port: read.integer('--dns-port', flags.dnsPort, PORT, 53),
    udpReaders: read.integer('--udp-readers', flags.udpReaders, readers, readersFor(machine.cores)),
    takeover: flags.takeover === true,
  };
}

/** One reader per core left to the process after the first; the packets of more than four want a flag. */
export function readersFor(cores: number): number {
  return Math.min(4, Math.max(1, Math.floor(cores) - 1));
}

function readBindAddresses(read: ValueReader, given: readonly string[] | undefined): ListenPlan['addresses'] {
  if (given === undefined) return 'all';
  const flag = '--dns-bind-address';
  const addresses = given
    .flatMap((text) => text.split(','))
    .map((text) => read.address(flag, text.trim()))
    .filter((address) => address !== undefined);
  for (const wildcard of ['0.0.0.0', '::']) {
    const isSameFamily = (address: string) => address.includes(':') === wildcard.includes(':');
    const covered = addresses.find((address) => address !== wildcard && isSameFamily(address));
    if (covered === undefined || !addresses.includes(wildcard)) continue;
    read.complain(flag, `already covered by ${wildcard}`, covered, 'Leave one of the two out.');
  }
  return [...new Set(addresses)];
}

function readLog(read: ValueReader, flags: ServeFlags, machine: Machine): LogPlan {
  return {
    level: read.choice('--log-level', flags.logLevel, LOG_LEVELS, 'info'),
    format: read.choice('--log-format', flags.logFormat, LOG_FORMATS, machine.terminal ? 'text' : 'json'),
  };
}
