/**
 * The flags that make a server replace the kube-dns pod or a part of it: settings from a ConfigMap, federations, and metrics under
 * the pod's names.
 */
import type { ListenPlan, SkyDnsMetricsPlan } from '@portolan/server/plan/server-plan.ts';
import { podSidecarPlan, type SidecarPlan } from '@portolan/server/settings/sidecar/sidecar-plan.ts';
import { readFederations } from '@portolan/server/settings/values/federations.ts';
import { type Place, readPlace } from '@portolan/server/settings/values/place.ts';
import type { ValueReader } from '@portolan/server/settings/values/value-reader.ts';
import type { ServeFlagReader } from './serve-flags.ts';
import type { ClusterPlan, DynamicPlan, ServePlan } from './serve-options.ts';

/**
 * What the server provides: a cluster's zone; the kube-dns container; or all containers of the kube-dns pod.
 */
export type Shape = 'server' | 'kube-dns' | 'pod';

/** A server with a ConfigMap provides the whole pod, unless it runs as `kube-dns`. */
export function readShape(read: ServeFlagReader, command: 'serve' | 'kube-dns'): Shape {
  if (command === 'kube-dns') return 'kube-dns';
  return read.isGiven('config-map') || read.isGiven('config-dir') ? 'pod' : 'server';
}

export function defaultDialect(shape: Shape): ClusterPlan['dialect'] {
  return shape === 'server' ? 'coredns' : 'kube-dns';
}

/** The metrics ports of the two containers, which dashboards expect. */
const SKYDNS_PORT = '10055';
const SIDECAR_PORT = '10054';

export function readDynamic(read: ServeFlagReader, hasApiServer: boolean): DynamicPlan {
  const name = read.value('config-map');
  const directory = read.value('config-dir');
  const namespace = read.value('config-map-namespace');
  const period = read.value('config-period');
  if (name !== undefined && directory !== undefined) {
    const remedy = 'Leave one out: settings come from one place.';
    read.addProblem('--config-map', 'given together with --config-dir', name, remedy);
  } else if (name !== undefined && !hasApiServer) {
    const remedy = 'Give the settings as files, with --config-dir.';
    read.addProblem('--config-map', 'there is no API server to ask', name, remedy);
  }
  if (directory !== undefined) return { kind: 'folder', directory, period };
  return name === undefined ? { kind: 'none' } : { kind: 'config-map', namespace, name };
}

export function readFederationsFlag(read: ServeFlagReader): ServePlan['federations'] {
  return readFederations('--federations', read.text('federations') ?? '', read.problems);
}

/** @param environment the variables that SkyDNS reads */
export function readSkyDnsMetrics(
  read: ServeFlagReader,
  shape: Shape,
  environment: Readonly<Record<string, string | undefined>>,
): SkyDnsMetricsPlan | undefined {
  const { PROMETHEUS_PORT, PROMETHEUS_PATH, PROMETHEUS_NAMESPACE, PROMETHEUS_SUBSYSTEM } = environment;
  const prometheusPort = read.text('prometheus-port');
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
  read: ServeFlagReader,
  shape: Shape,
  { domain }: Pick<ClusterPlan, 'domain'>,
  listen: ListenPlan,
): SidecarPlan | undefined {
  const text = read.text('sidecar-port') ?? (shape === 'pod' ? SIDECAR_PORT : undefined);
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

/** The address for probes from the same machine, given the listen addresses. */
function addressToProbe(addresses: ListenPlan['addresses']): string {
  if (addresses === 'all' || addresses.includes('0.0.0.0') || addresses.includes('127.0.0.1'))
    return '127.0.0.1';
  const [first] = addresses;
  return first === undefined || first === '::' ? '::1' : first;
}

function readPlaceOrNone(read: ValueReader, flag: string, text: string | undefined): Place | undefined {
  return text === undefined || text === 'none' ? undefined : readPlace(read, flag, text);
}

function readPath(read: ValueReader, path: string): string {
  if (!/^\/[A-Za-z0-9._~\-/]*$/.test(path))
    read.addProblem('PROMETHEUS_PATH', 'not a path', path, 'Give one such as /metrics.');
  return path;
}

/** Reads a part of metric names. */
function readNamePart(read: ValueReader, where: string, part: string): string {
  if (!/^[a-zA-Z_:][a-zA-Z0-9_:]*$/.test(part))
    read.addProblem(
      where,
      'not a part of a name',
      part,
      'Use letters, digits and underscores, and no digit in front.',
    );
  return part;
}

/** Treats an empty variable as not set. */
const nonEmpty = (text: string | undefined): string | undefined => (text === '' ? undefined : text);
