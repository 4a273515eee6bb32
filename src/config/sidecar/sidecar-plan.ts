/**
 * The plan of a sidecar: which servers it probes, whose cache statistics it reads, and where it serves both by HTTP.
 */
import { parseName } from '../../wire/name.ts';
import { type AbsoluteName, TYPE } from '../../wire/types.ts';

export interface SidecarPlan {
  /** No two have the same label. */
  readonly probes: readonly ProbePlan[];
  readonly dnsmasq: CountsPlan;
  readonly http: SidecarHttpPlan;
}

/** A query that is sent at an interval, to see whether its server answers. */
export interface ProbePlan {
  /** Letters, digits and underscores: a part of a path and of the names of metrics. */
  readonly label: string;
  readonly server: ServerPlace;
  readonly name: AbsoluteName;
  readonly type: number;
  /** Milliseconds from the start of one probe to that of the next. */
  readonly interval: number;
}

export interface ServerPlace {
  /** An IP address, or the name of a host, which the system looks up for each probe. */
  readonly host: string;
  readonly port: number;
}

/** The dnsmasq whose cache statistics are read, in class CHAOS. */
export interface CountsPlan {
  readonly server: ServerPlace;
  /** Milliseconds from one reading to the next. */
  readonly interval: number;
  /** Milliseconds until the first one. */
  readonly delay: number;
}

export interface SidecarHttpPlan {
  /** Undefined: all addresses. */
  readonly address: string | undefined;
  /** 0: any free port. */
  readonly port: number;
  /** Keep trying while another process has the port. */
  readonly waitForPort: boolean;
  /** What chooses the port, for the remedy when it is taken. */
  readonly flag: string;
  /** Where the metrics are: `/metrics`. */
  readonly path: string;
  /** What the names of all metrics begin with. */
  readonly namespace: string;
}

/** The types that probes ask for, by their names on the command line. */
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
  /** Where the server can be asked; 127.0.0.1 unless it listens elsewhere. */
  readonly dnsAddress?: string;
  readonly http?: Partial<SidecarHttpPlan>;
}

/** The sidecar of the kube-dns pod, for a server that is all of that pod: both probes ask it, under their old labels. */
export function podSidecarPlan({ domain, dnsPort, dnsAddress, http }: PodOptions): SidecarPlan {
  const { probeInterval, dnsmasq } = SIDECAR_DEFAULTS;
  const server = { host: dnsAddress ?? dnsmasq.server.host, port: dnsPort };
  const name = parseName(`kubernetes.default.svc.${domain}`);
  return {
    probes: [
      { label: 'kubedns', server, name, type: TYPE.SRV, interval: probeInterval },
      { label: 'dnsmasq', server, name, type: TYPE.A, interval: probeInterval },
    ],
    // By then the server that this is a part of has opened its sockets, unless it waits for its cluster.
    dnsmasq: { server, interval: dnsmasq.interval, delay: dnsmasq.interval },
    http: { ...SIDECAR_DEFAULTS.http, ...http },
  };
}
