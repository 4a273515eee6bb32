/**
 * The settings of `serve` and `kube-dns`: what their flags say.
 *
 * A plan is complete and checked: every default is filled in, every number lies in its range. Code that
 * reads it applies no defaults of its own.
 */

import type { LogLevel } from '../base/log.ts';
import type { ForwardRule, Policy } from '../forward/forward-plan.ts';
import type { UpstreamAddress } from '../forward/upstream-address.ts';
import type { Dialect } from '../kube/dialects/dialect.ts';
import type { PodMode } from '../kube/names/pods.ts';
import type { Federation } from '../plugins/federations/federation.ts';
import type { NameKey } from '../wire/types.ts';
import type { AutoscalerPlan } from './autoscaler/autoscaler-plan.ts';
import type { DnsmasqPlan } from './dnsmasq/dnsmasq-plan.ts';
import type { QueryLogPlan } from './server/query-log-plan.ts';
import type { HealthPlan, ListenPlan, ObjectsPlan, SkyDnsMetricsPlan } from './server/server-plan.ts';
import type { SidecarPlan } from './sidecar/sidecar-plan.ts';

export const DIALECTS = ['coredns', 'kube-dns'] as const satisfies readonly Dialect['name'][];

export const POD_MODES = ['disabled', 'insecure', 'verified'] as const satisfies readonly PodMode[];

export const LOG_FORMATS = ['text', 'json'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

export interface ServePlan {
  readonly cluster: ClusterPlan;
  readonly resolver: ResolverPlan;
  readonly listen: ListenPlan;
  readonly health: HealthPlan;
  readonly log: LogPlan;
  /** Undefined: queries are not logged. */
  readonly queryLog: QueryLogPlan | undefined;
  /** Where settings come from that change while the server runs. */
  readonly dynamic: DynamicPlan;
  /** Those that hold while `dynamic` says nothing else. */
  readonly federations: readonly Federation[];
  /** Metrics under the names that SkyDNS gives them, on a port of their own. */
  readonly skyDnsMetrics: SkyDnsMetricsPlan | undefined;
  /** What the sidecar of the pod does, where the server does that too. */
  readonly sidecar: SidecarPlan | undefined;
  /** What the server scales; undefined: nothing. */
  readonly autoscaler: AutoscalerPlan | undefined;
  /** Where the last good state is kept between two runs. */
  readonly snapshotFile: string | undefined;
  /** The path of the socket that takes orders while the server runs; undefined: there is none. */
  readonly controlSocket: string | undefined;
  /** A file with further plugins in the syntax of a Corefile; undefined: there is none. */
  readonly blocksExtra: string | undefined;
  /** Milliseconds: an older state is not used; 0: any is. */
  readonly snapshotMaxAge: number;
  /** Milliseconds until a cluster that is still not listed is reported as an error. */
  readonly initialSyncTimeout: number;
  /** Milliseconds that a stopping server answers on after it has said that it is not ready. */
  readonly lameduck: number;
}

/** The zone of a Kubernetes cluster. */
export interface ClusterPlan {
  /** The apex below which `svc` and `pod` stand. */
  readonly domain: NameKey;
  readonly dialect: Dialect['name'];
  readonly pods: PodMode;
  /** Seconds, 0 to 3600. */
  readonly ttl: number;
  readonly objects: ObjectsPlan;
}

/** Where questions about names outside the cluster go, and how their answers are kept. */
export interface ResolverPlan {
  readonly upstreams: UpstreamsChoice;
  readonly policy: Policy;
  /** Whether the AD bit of upstream servers is believed. */
  readonly trustsAd: boolean;
  /** Whether names are sent to upstream servers in random case. */
  readonly mixesCase: boolean;
  /** Each for one or several domains; before `upstreams` where they match. */
  readonly stubDomains: readonly ForwardRule[];
  /** Hosts files and folders of them, in the order in which they are read. */
  readonly hosts: readonly string[];
  /** Octets for cached answers; 0 keeps none. */
  readonly cacheOctets: number;
  /** Cached answers at most; undefined: as many as the octets hold. */
  readonly cacheEntries: number | undefined;
  /** What a file of dnsmasq's options says. */
  readonly dnsmasq: DnsmasqPlan | undefined;
  /** What is good to know about these options, to be told at the start. */
  readonly notes: readonly string[];
}

/** Who is asked about names that no rule is for. */
export type UpstreamsChoice =
  /** They are refused. */
  | { readonly kind: 'none' }
  | { readonly kind: 'servers'; readonly servers: readonly UpstreamAddress[] }
  /** The servers of a resolv.conf, followed as it changes. */
  | { readonly kind: 'resolv-file'; readonly path: string };

export const POLICIES = [
  'sequential',
  'random',
  'round-robin',
  'fastest',
  'all',
] as const satisfies readonly Policy[];

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

export interface LogPlan {
  /** At the start; it may be changed while the server runs. */
  readonly level: LogLevel;
  readonly format: LogFormat;
}
