/**
 * The plan of a server: all front ends compile their settings to it, together with the current files and objects that they follow.
 * `server/` starts a server from it, and switches a running server to a new plan.
 *
 * A plan is complete and validated: every default is filled in and every number is in range.
 */
import type { ClientRules } from '@portolan/kernel/listen/client-rules.ts';
import type { QueryTimeouts } from '@portolan/kernel/listen/query-timeouts.ts';
import type { EnginePlan } from '@portolan/kernel/plan/engine-plan.ts';
import type { ListenerGroupPlan } from '@portolan/kernel/plan/server-blocks-plan.ts';
import type { HistoryPlan } from './history-plan.ts';
import type { QueryLogPlan } from './query-log-plan.ts';

export interface ServerPlan {
  /** The only part that may change at run time; the rest is fixed for the process. */
  readonly engine: EnginePlan;
  readonly listen: ListenerPlan;
  /** The maximum number of threads that answer UDP for groups without threads of their own, up to 31; 0: there are no such groups. */
  readonly udpReaders: number;
  /** Whether to join ports that another process serves, instead of refusing to start. */
  readonly takeover: boolean;
  /** The source of the cluster objects; undefined: no cluster. */
  readonly objects: ClusterObjectsPlan | undefined;
  /** Reader threads kept for listener groups of later plans. Each costs its own counters. Default: 0. */
  readonly spareReaders?: number;
  /**
   * Who writes lines about queries. `plugins`: the blocks, such as `log` and `errors`, for each listener group; the server then logs
   * nothing of its sockets. `server`: only the query log.
   */
  readonly queryLines: 'plugins' | 'server';
  /** Undefined: queries are not logged. */
  readonly queryLog: QueryLogPlan | undefined;
  /** Health, readiness and metrics; undefined: do not open a port. */
  readonly http: HttpPlan | undefined;
  /** Endpoints of CoreDNS's plugins; several may share an address. */
  readonly endpoints: readonly EndpointPlan[];
  /** Milliseconds for which a stopping server still answers after it reports not ready. */
  readonly lameduck: number;
  /** Milliseconds after the stop signal until which it answers on while queries arrive, if that is longer. Default: 0. */
  readonly drain?: number;
  /** Whether queries are always counted for `top`. Default: only while somebody watches. */
  readonly keepsStatistics?: boolean;
  /** What is remembered of failures and changes. Default: nothing. */
  readonly history?: HistoryPlan | undefined;
}

export interface ListenerPlan {
  /** At least one. */
  readonly groups: readonly ListenerGroupPlan[];
  /** Interfaces that choose the addresses of the only group, including those that come up later. Default: the group has its addresses. */
  readonly interfaces?: InterfaceListenPlan | undefined;
  /** Milliseconds that a shared reader waits for more packets after it receives a single one, 0 to 10. Default: 0. */
  readonly udpCoalesce?: number | undefined;
  /** How long clients wait for answers. Default: `DEFAULT_QUERY_TIMEOUTS`. */
  readonly timeouts?: QueryTimeouts;
}

export interface ClusterObjectsPlan {
  readonly source: ObjectsPlan;
  /** Where to keep the last good state across restarts; undefined: nowhere. */
  readonly snapshotFile: string | undefined;
  /** Milliseconds after which a state is too old to use; 0: never. */
  readonly snapshotMaxAge: number;
  /** Milliseconds until an incomplete initial list of the cluster is reported as an error. */
  readonly initialSyncTimeout: number;
}

export interface HttpPlan {
  readonly health: HealthPlan;
  /** Metrics under SkyDNS's names, on a separate port. */
  readonly skyDnsMetrics: SkyDnsMetricsPlan | undefined;
}

export interface EndpointPlan {
  readonly kind: 'health' | 'ready' | 'metrics' | 'profile';
  /** `127.0.0.1:8080`, `:8080`, `[::1]:8080`, `localhost:9153`. */
  readonly address: string;
  /** Whether the endpoint `ready` may go back to not ready. */
  readonly goesBack: boolean;
  /** The path of a web configuration with the certificate of this address. Default: it is not encrypted. */
  readonly webConfiguration?: string;
}

/** The source of the cluster objects. */
export type ObjectsPlan =
  | {
      readonly kind: 'api-server';
      /** Undefined settings are looked up as in `kubectl`. */
      readonly kubecfgFile: string | undefined;
      readonly context: string | undefined;
      readonly masterUrl: string | undefined;
    }
  | {
      readonly kind: 'manifests';
      readonly directory: string;
      /** Whether a folder without manifests is an empty cluster; otherwise the cluster counts as not listed yet. */
      readonly allowEmpty: boolean;
    }
  /** The example manifests that come with the program. */
  | { readonly kind: 'example' };

export interface ListenPlan {
  /** At least one IP address; `0.0.0.0` and `::` listen on all addresses of a family. `all`: all families of the machine. */
  readonly addresses: 'all' | readonly string[];
  /** 1 to 65535. */
  readonly port: number;
  /** The maximum number of threads that answer UDP, 1 to 31. */
  readonly udpReaders: number;
  /** Milliseconds that a reader waits for more packets after it receives a single one, 0 to 10. Default: 0. */
  readonly udpCoalesce?: number;
  /** Whether to join a port that another process serves, instead of refusing to start. */
  readonly takeover: boolean;
  /** Access rules and rate limits of clients. */
  readonly clients: ClientRules;
}

export interface HealthPlan {
  /** An IP address; undefined: all addresses. */
  readonly address: string | undefined;
  /** 0 to 65535; 0: any free port. */
  readonly port: number;
  /** Whether to serve `/cache`: the cluster's zone as a tree, in the format of kube-dns. */
  readonly cache: boolean;
}

export interface SkyDnsMetricsPlan {
  /** An IP address; undefined: all addresses. */
  readonly address: string | undefined;
  /** 0 to 65535; 0: any free port. */
  readonly port: number;
  /** The URL path, such as `/metrics`. */
  readonly path: string;
  /** The first two parts of each name, as in `NAMESPACE_SUBSYSTEM_dns_request_count_total`; empty parts are left out. */
  readonly namespace: string;
  readonly subsystem: string;
}

/** Where to listen, as dnsmasq's options define it. */
export interface InterfaceListenPlan {
  /** 0 to 65535; 0: do not serve DNS. */
  readonly port: number;
  /**
   * Interface names, where a final `*` matches any suffix; the loopback interface is always included. `all`: every interface, or only
   * `addresses` if there are any.
   */
  readonly interfaces: 'all' | readonly string[];
  readonly exceptInterfaces: readonly string[];
  readonly addresses: readonly string[];
  /** `dynamic`: follow interfaces that come and go. */
  readonly bind: 'wildcard' | 'interfaces' | 'dynamic';
  /** At least 1. */
  readonly maxTcpConnections: number;
}
