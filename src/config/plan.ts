/**
 * What to serve, and how: the one value that every front end ends in and that `server/` makes a running server from.
 *
 * A plan is complete and checked: every default is filled in, every number lies in its range. Whoever reads it has no
 * second opinion about flags.
 */
import type { LogLevel } from '../ground/log.ts';
import type { Federation } from '../handlers/federation/plan.ts';
import type { NameKey } from '../wire/types.ts';
import type { ResolverPlan } from './resolver/plan.ts';
import type { SidecarPlan } from './sidecar/plan.ts';

export const DIALECTS = ['coredns', 'kube-dns'] as const;
export type Dialect = (typeof DIALECTS)[number];

export const POD_MODES = ['disabled', 'insecure', 'verified'] as const;
export type PodMode = (typeof POD_MODES)[number];

export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const satisfies readonly LogLevel[];
export const LOG_FORMATS = ['text', 'json'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

export interface ServerPlan {
  readonly cluster: ClusterPlan;
  readonly resolver: ResolverPlan;
  readonly listen: ListenPlan;
  readonly health: HealthPlan;
  readonly log: LogPlan;
  /** Where settings come from that change while the server runs. */
  readonly dynamic: DynamicPlan;
  /** Those that hold while `dynamic` says nothing else. */
  readonly federations: readonly Federation[];
  /** Metrics under the names that SkyDNS gives them, on a port of their own. */
  readonly skyDnsMetrics: SkyDnsMetricsPlan | undefined;
  /** What the sidecar of the pod does, where the server does that too. */
  readonly sidecar: SidecarPlan | undefined;
  /** Where the last good state is kept between two runs. */
  readonly snapshotFile: string | undefined;
  /** Milliseconds until a cluster that is still not listed is reported as an error. */
  readonly initialSyncTimeout: number;
  /** Milliseconds that a stopping server answers on after it has said that it is not ready. */
  readonly lameduck: number;
}

/** The zone of a Kubernetes cluster. */
export interface ClusterPlan {
  /** The apex below which `svc` and `pod` stand. */
  readonly domain: NameKey;
  readonly dialect: Dialect;
  readonly pods: PodMode;
  /** Seconds, 0 to 3600. */
  readonly ttl: number;
  readonly objects: ObjectsPlan;
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
  | { readonly kind: 'manifests'; readonly directory: string }
  /** The manifests that come with the program. */
  | { readonly kind: 'example' };

export interface ListenPlan {
  /** IP addresses, at least one; `0.0.0.0` and `::` stand for all of a family. `all`: all of the families there are. */
  readonly addresses: 'all' | readonly string[];
  /** 1 to 65535. */
  readonly port: number;
  /** Threads that answer UDP, 1 to 31. */
  readonly udpReaders: number;
  /** Join a port that another process serves, instead of refusing to start. */
  readonly takeover: boolean;
}

export interface HealthPlan {
  /** An IP address; undefined binds all of them. */
  readonly address: string | undefined;
  /** 0 to 65535; 0 takes any free port. */
  readonly port: number;
  /** Serve `/cache`: the cluster's zone in the nesting of kube-dns. */
  readonly cache: boolean;
}

/** The ConfigMap of kube-dns: mounted as a folder, or read from the API server. */
export type DynamicPlan =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'folder';
      readonly directory: string;
      /** Milliseconds between two looks at it where the system gives no notice of changes. */
      readonly period: number;
    }
  | { readonly kind: 'config-map'; readonly namespace: string; readonly name: string };

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

export interface LogPlan {
  readonly level: LogLevel;
  readonly format: LogFormat;
}
