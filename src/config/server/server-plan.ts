/**
 * What a server does: the one value that the settings of every front end end in, together with what the files and objects that they
 * follow say now. `server/` makes a running server of it, and changes that to the next one.
 *
 * A plan is complete and checked: every default is filled in, every number lies in its range.
 */
import type { ClientRules } from '../../listen/client-rules.ts';
import type { EnginePlan } from './engine-plan.ts';
import type { QueryLogPlan } from './query-log-plan.ts';
import type { ListenerGroupPlan } from './server-blocks-plan.ts';

export interface ServerPlan {
  /** What is answered. It may change while the server runs; all else belongs to the process. */
  readonly engine: EnginePlan;
  readonly listen: ListenerPlan;
  /** Threads that answer UDP at most, 1 to 31. */
  readonly udpReaders: number;
  /** Join ports that another process serves, instead of refusing to start. */
  readonly takeover: boolean;
  /** Where the objects of the engine's cluster come from; undefined: it has none. */
  readonly objects: ClusterObjectsPlan | undefined;
  /** Undefined: queries are not logged. */
  readonly queryLog: QueryLogPlan | undefined;
  /** Health, readiness and metrics; undefined: no port is opened. */
  readonly http: HttpPlan | undefined;
  /** Endpoints under CoreDNS's names; each address may have several. */
  readonly endpoints: readonly EndpointPlan[];
  /** Milliseconds that a stopping server answers on after it has said that it is not ready. */
  readonly lameduck: number;
}

export type ListenerPlan =
  /** On these addresses. */
  | ({ readonly kind: 'addresses' } & Pick<ListenPlan, 'addresses' | 'port' | 'clients' | 'udpCoalesce'>)
  /** Each group of server blocks on its own. */
  | { readonly kind: 'groups'; readonly groups: readonly ListenerGroupPlan[] }
  /** On the addresses that interfaces have now, and on those that come up later. */
  | ({ readonly kind: 'interfaces' } & InterfaceListenPlan);

export interface ClusterObjectsPlan {
  readonly source: ObjectsPlan;
  /** Where the last good state is kept between two runs; undefined: nowhere. */
  readonly snapshotFile: string | undefined;
  /** Milliseconds: an older state is not used; 0: any is. */
  readonly snapshotMaxAge: number;
  /** Milliseconds until a cluster that is still not listed is reported as an error. */
  readonly initialSyncTimeout: number;
}

export interface HttpPlan {
  readonly health: HealthPlan;
  /** Metrics under the names that SkyDNS gives them, on a port of their own. */
  readonly skyDnsMetrics: SkyDnsMetricsPlan | undefined;
}

export interface EndpointPlan {
  readonly kind: 'health' | 'ready' | 'metrics' | 'profile';
  /** `127.0.0.1:8080`, `:8080`, `[::1]:8080`, `localhost:9153`. */
  readonly address: string;
  /** Whether one that has been ready may be not ready again; for `ready`. */
  readonly goesBack: boolean;
}

/** Where the objects of the cluster come from. */
export type ObjectsPlan =
  | {
      readonly kind: 'api-server';
      /** Each undefined one is looked for as `kubectl` does. */
      readonly kubecfgFile: string | undefined;
      readonly context: string | undefined;
      readonly masterUrl: string | undefined;
    }
  | {
      readonly kind: 'manifests';
      readonly directory: string;
      /** Whether a folder without manifests is an empty cluster instead of one that is not there yet. */
      readonly allowEmpty: boolean;
    }
  /** The manifests that come with the program. */
  | { readonly kind: 'example' };

export interface ListenPlan {
  /** IP addresses, at least one; `0.0.0.0` and `::` stand for all of a family. `all`: all of the families there are. */
  readonly addresses: 'all' | readonly string[];
  /** 1 to 65535. */
  readonly port: number;
  /** Threads that answer UDP at most, 1 to 31. */
  readonly udpReaders: number;
  /** Milliseconds for which a reader that has received a single packet waits for more, 0 to 10. Default: 0. */
  readonly udpCoalesce?: number;
  /** Join a port that another process serves, instead of refusing to start. */
  readonly takeover: boolean;
  /** What clients may do. */
  readonly clients: ClientRules;
}

export interface HealthPlan {
  /** An IP address; undefined binds all of them. */
  readonly address: string | undefined;
  /** 0 to 65535; 0 takes any free port. */
  readonly port: number;
  /** Serve `/cache`: the cluster's zone in the nesting of kube-dns. */
  readonly cache: boolean;
}

export interface SkyDnsMetricsPlan {
  /** An IP address; undefined binds all of them. */
  readonly address: string | undefined;
  /** 0 to 65535; 0 takes any free port. */
  readonly port: number;
  /** As in `/metrics`. */
  readonly path: string;
  /** The first two parts of each name: `NAMESPACE_SUBSYSTEM_dns_request_count_total`; an empty one is left out. */
  readonly namespace: string;
  readonly subsystem: string;
}

/** Which addresses to listen on, as dnsmasq's options say it. */
export interface InterfaceListenPlan {
  /** 0 to 65535; 0 turns DNS off. */
  readonly port: number;
  /**
   * Names of interfaces, where a final `*` stands for any end; the loopback interface is always among them. `all`: every
   * interface, or none but `addresses` if there are any.
   */
  readonly interfaces: 'all' | readonly string[];
  readonly exceptInterfaces: readonly string[];
  readonly addresses: readonly string[];
  /** `dynamic` follows interfaces that come and go. */
  readonly bind: 'wildcard' | 'interfaces' | 'dynamic';
  /** From 1. */
  readonly maxTcpConnections: number;
}
