/**
 * The flags that make a server the kube-dns pod, or a part of it: settings from a ConfigMap, federations, and metrics under
 * the names of that pod.
 */
import { readFederations } from './kube-dns/federations.ts';
import type {
  ClusterPlan,
  Dialect,
  DynamicPlan,
  HealthPlan,
  ListenPlan,
  ServerPlan,
  SkyDnsMetricsPlan,
} from './plan.ts';
import { podSidecarPlan, type SidecarPlan } from './sidecar/plan.ts';
import type { ValueReader } from './values.ts';

/** What was given on the command line, unchecked. */
export interface PodFlags {
  readonly configMap?: string;
  readonly configMapNamespace?: string;
  readonly configDir?: string;
  readonly configPeriod?: string;
  readonly federations?: string;
  /** Ports, `address:port`, or `none`. */
  readonly prometheusPort?: string;
  readonly sidecarPort?: string;
}

/**
 * What is served: a cluster's zone; what kube-dns serves in its container; or what the containers of its pod serve together.
 */
export type Shape = 'server' | 'kube-dns' | 'pod';

/** A server that follows a ConfigMap is the whole pod, unless it is run in place of one container. */
export function shapeOf(flags: PodFlags, command: 'serve' | 'kube-dns'): Shape {
  if (command === 'kube-dns') return 'kube-dns';
  return flags.configMap === undefined && flags.configDir === undefined ? 'server' : 'pod';
}

export function defaultDialect(shape: Shape): Dialect {
  return shape === 'server' ? 'coredns' : 'kube-dns';
}

const DEFAULT_PERIOD = 10_000;
const PORT = { least: 0, most: 65_535, of: 'a port' };
/** Where dashboards look for the metrics of the two containers. */
const SKYDNS_PORT = '10055';
const SIDECAR_PORT = '10054';

export function readDynamic(read: ValueReader, flags: PodFlags, hasApiServer: boolean): DynamicPlan {
  const name = read.text('--config-map', flags.configMap, 'the name of a ConfigMap');
  const directory = read.text('--config-dir', flags.configDir, 'the path of a folder');
  const namespace =
    read.text('--config-map-namespace', flags.configMapNamespace, 'a namespace') ?? 'kube-system';
  const period = read.duration('--config-period', flags.configPeriod, DEFAULT_PERIOD);
  if (name !== undefined && directory !== undefined) {
    const remedy = 'Leave one out: settings come from one place.';
    read.complain('--config-map', 'given together with --config-dir', name, remedy);
  } else if (name !== undefined && !hasApiServer) {
    const remedy = 'Give the settings as files, with --config-dir.';
    read.complain('--config-map', 'there is no API server to ask', name, remedy);
  }
  if (directory !== undefined) return { kind: 'folder', directory, period };
  return name === undefined ? { kind: 'none' } : { kind: 'config-map', namespace, name };
}

export function readFederationsFlag(read: ValueReader, { federations }: PodFlags): ServerPlan['federations'] {
  return readFederations('--federations', federations ?? '', read.problems);
}

/** @param environment as SkyDNS reads it */
export function readSkyDnsMetrics(
  read: ValueReader,
  { prometheusPort }: PodFlags,
  shape: Shape,
  environment: Readonly<Record<string, string | undefined>>,
): SkyDnsMetricsPlan | undefined {
  const { PROMETHEUS_PORT, PROMETHEUS_PATH, PROMETHEUS_NAMESPACE, PROMETHEUS_SUBSYSTEM } = environment;
  const fromEnvironment = shape === 'server' ? undefined : nonEmpty(PROMETHEUS_PORT);
  const where =
    prometheusPort === undefined && fromEnvironment !== undefined ? 'PROMETHEUS_PORT' : '--prometheus-port';
  const text = prometheusPort ?? fromEnvironment ?? (shape === 'pod' ? SKYDNS_PORT : undefined);
  const place = readPlaceOrNone(read, where, text);
  return (
    place && {
      ...place,
      path: readPath(read, nonEmpty(PROMETHEUS_PATH) ?? '/metrics'),
      namespace: readNamePart(read, 'PROMETHEUS_NAMESPACE', nonEmpty(PROMETHEUS_NAMESPACE) ?? 'skydns'),
      subsystem: readNamePart(read, 'PROMETHEUS_SUBSYSTEM', nonEmpty(PROMETHEUS_SUBSYSTEM) ?? 'skydns'),
    }
  );
}

export function readSidecar(
  read: ValueReader,
  { sidecarPort }: PodFlags,
  shape: Shape,
  { domain }: Pick<ClusterPlan, 'domain'>,
  listen: ListenPlan,
): SidecarPlan | undefined {
  const text = sidecarPort ?? (shape === 'pod' ? SIDECAR_PORT : undefined);
  const http = readPlaceOrNone(read, '--sidecar-port', text);
  return (
    http &&
    podSidecarPlan({
      domain,
      dnsPort: listen.port,
      dnsAddress: addressToProbe(listen.addresses),
      http: { ...http, waitForPort: listen.takeover, flag: '--sidecar-port' },
    })
  );
}

/** Where a server that listens at these addresses can be asked from its own machine. */
function addressToProbe(addresses: ListenPlan['addresses']): string {
  if (addresses === 'all' || addresses.includes('0.0.0.0') || addresses.includes('127.0.0.1'))
    return '127.0.0.1';
  const [first] = addresses;
  return first === undefined || first === '::' ? '::1' : first;
}

type Place = Pick<HealthPlan, 'address' | 'port'>;

function readPlaceOrNone(read: ValueReader, flag: string, text: string | undefined): Place | undefined {
  return text === undefined || text === 'none' ? undefined : readPlace(read, flag, text);
}

/** `PORT`, or `ADDRESS:PORT` to be reachable there only. */
export function readPlace(read: ValueReader, flag: string, text: string): Place {
  const parts = /^(.*):([^:\]]*)$/.exec(text);
  const address = parts?.[1] === undefined ? undefined : read.address(flag, parts[1]);
  return { address, port: read.integer(flag, parts === null ? text : parts[2], PORT, 0) };
}

function readPath(read: ValueReader, path: string): string {
  if (!/^\/[A-Za-z0-9._~\-/]*$/.test(path))
    read.complain('PROMETHEUS_PATH', 'not a path', path, 'Give one such as /metrics.');
  return path;
}

/** A part of the names of metrics. */
function readNamePart(read: ValueReader, where: string, part: string): string {
  if (!/^[a-zA-Z_:][a-zA-Z0-9_:]*$/.test(part))
    read.complain(
      where,
      'not a part of a name',
      part,
      'Use letters, digits and underscores, and no digit in front.',
    );
  return part;
}

/** A variable that is set to nothing is not set. */
const nonEmpty = (text: string | undefined): string | undefined => (text === '' ? undefined : text);
