/**
 * The settings of a sidecar: servers to probe, cache statistics to read, and where to serve both over HTTP.
 */
import { parseName } from '@portolan/dns/name.ts';
import { type AbsoluteName, TYPE } from '@portolan/dns/types.ts';

export interface SidecarPlan {
  /** Labels are unique. */
  readonly probes: readonly ProbePlan[];
  readonly dnsmasq: CountsPlan;
  readonly http: SidecarHttpPlan;
}

/** A query sent at an interval to check that its server answers. */
export interface ProbePlan {
  /** Letters, digits and underscores; used in URL paths and metric names. */
  readonly label: string;
  readonly server: ProbedServer;
  readonly name: AbsoluteName;
  readonly type: number;
  /** Milliseconds between starts of a probe. */
  readonly interval: number;
}

export interface ProbedServer {
  /** An IP address, or a host name that the system resolves for each probe. */
  readonly host: string;
  readonly port: number;
}

/** The dnsmasq to read cache statistics from, in class CHAOS. */
export interface CountsPlan {
  readonly server: ProbedServer;
  /** Milliseconds between readings. */
  readonly interval: number;
  /** Milliseconds until the first reading. */
  readonly delay: number;
}

export interface SidecarHttpPlan {
  /** Undefined: all addresses. */
  readonly address: string | undefined;
  /** 0: any free port. */
  readonly port: number;
  /** Whether to retry while another process holds the port. */
  readonly waitForPort: boolean;
  /** The flag that sets the port, for the remedy if the port is in use. */
  readonly flag: string;
  /** The URL path of the metrics: `/metrics`. */
  readonly path: string;
  /** The prefix of all metric names. */
  readonly namespace: string;
}

/** The query types of probes, by their command-line names. */
export const PROBE_TYPES: ReadonlyMap<string, number> = new Map<string, number>([
  ['ANY', TYPE.ANY],
  ['A', TYPE.A],
  ['AAAA', TYPE.AAAA],
  ['SRV', TYPE.SRV],
]);

/** The original's defaults. */
export const SIDECAR_DEFAULTS = {
  probeInterval: 5_000,
  probeType: TYPE.ANY,
  dnsmasq: { server: { host: '127.0.0.1', port: 53 }, interval: 5_000, delay: 0 },
  http: {
    address: '0.0.0.0',
    port: 10_054,
    waitForPort: false,
    flag: '--prometheus-port',
    path: '/metrics',
    namespace: 'kubedns',
  },
} as const;

export interface PodOptions {
  /** The zone of the cluster. */
  readonly domain: AbsoluteName;
  readonly dnsPort: number;
  /** The address to query; 127.0.0.1 unless the server listens elsewhere. */
  readonly dnsAddress?: string;
  readonly http?: Partial<SidecarHttpPlan>;
}

/** The sidecar for a server that replaces the whole kube-dns pod: both probes query it, under their former labels. */
export function podSidecarPlan({ domain, dnsPort, dnsAddress, http }: PodOptions): SidecarPlan {
  const { probeInterval, dnsmasq } = SIDECAR_DEFAULTS;
  const server = { host: dnsAddress ?? dnsmasq.server.host, port: dnsPort };
  const name = parseName(`kubernetes.default.svc.${domain}`);
  return {
    probes: [
      { label: 'kubedns', server, name, type: TYPE.SRV, interval: probeInterval },
      { label: 'dnsmasq', server, name, type: TYPE.A, interval: probeInterval },
    ],
    // After this delay the server in the same process has opened its sockets, unless it waits for its cluster.
    dnsmasq: { server, interval: dnsmasq.interval, delay: dnsmasq.interval },
    http: { ...SIDECAR_DEFAULTS.http, ...http },
  };
}
