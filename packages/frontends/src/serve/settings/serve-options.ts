/**
 * The settings of `serve` and `kube-dns`, compiled from their flags.
 *
 * A plan is complete and validated: every default is filled in and every number is in range. Code that reads it applies no defaults of
 * its own.
 */

import type { AddressRange } from '@portolan/dns/address-range.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import type { LogLevel } from '@portolan/kernel/base/log.ts';
import type { LossRule } from '@portolan/kernel/base/losses.ts';
import type { ForwardRule, Policy } from '@portolan/kernel/forward/forward-plan.ts';
import type { UpstreamAddress } from '@portolan/kernel/forward/upstream-address.ts';
import type { Dialect } from '@portolan/kubernetes/dialects/dialect.ts';
import type { PodMode } from '@portolan/kubernetes/names/pods.ts';
import type { Federation } from '@portolan/kubernetes/plugins/federations/federation.ts';
import type { NodesUse } from '@portolan/kubernetes/publish/nodes-use.ts';
import type { TenantRules } from '@portolan/kubernetes/publish/tenant-rules.ts';
import type { NftsetRule } from '@portolan/plugins/nftset/options.ts';
import type { NsidOptions } from '@portolan/plugins/nsid/plugin.ts';
import type { HistoryPlan } from '@portolan/server/plan/history-plan.ts';
import type { LogFormat, QueryLogPlan } from '@portolan/server/plan/query-log-plan.ts';
import type {
  HealthPlan,
  ListenPlan,
  ObjectsPlan,
  SkyDnsMetricsPlan,
} from '@portolan/server/plan/server-plan.ts';
import type { AutoscalerPlan } from '@portolan/server/settings/autoscaler/autoscaler-plan.ts';
import type { EventsPlan } from '@portolan/server/settings/events/events-plan.ts';
import type { OwnDashboardPlan } from '@portolan/server/settings/own-dashboard/own-dashboard.ts';
import type { SidecarPlan } from '@portolan/server/settings/sidecar/sidecar-plan.ts';
import type { DnsmasqPlan } from '../../dnsmasq/settings/dnsmasq-plan.ts';

export const DIALECTS = ['coredns', 'kube-dns'] as const satisfies readonly Dialect['name'][];

export const POD_MODES = ['disabled', 'insecure', 'verified'] as const satisfies readonly PodMode[];

export interface ServePlan {
  readonly cluster: ClusterPlan;
  readonly resolver: ResolverPlan;
  readonly listen: ListenPlan;
  readonly identity: IdentityPlan;
  /** Whether it answers questions about `resolver.arpa` itself: there is no encrypted resolver to discover. */
  readonly servesDiscovery: boolean;
  readonly health: HealthPlan;
  readonly log: LogPlan;
  /** Undefined: queries are not logged. */
  readonly queryLog: QueryLogPlan | undefined;
  /** The source of settings that change while the server runs. */
  readonly dynamic: DynamicPlan;
  /** In force unless `dynamic` overrides them. */
  readonly federations: readonly Federation[];
  /** Metrics under SkyDNS's names, on a separate port. */
  readonly skyDnsMetrics: SkyDnsMetricsPlan | undefined;
  /** The probes and metrics of the pod's sidecar, if this server provides them. */
  readonly sidecar: SidecarPlan | undefined;
  /** The autoscaler that runs in this server; undefined: none. */
  readonly autoscaler: AutoscalerPlan | undefined;
  /** Kubernetes Events about findings; undefined: none. */
  readonly events: EventsPlan | undefined;
  /** Where to keep the last good state across restarts. */
  readonly snapshotFile: string | undefined;
  /** The path of the control socket; undefined: no socket. */
  readonly controlSocket: string | undefined;
  /** Whether queries are always counted for `top`. */
  readonly keepsStatistics: boolean;
  /** What is remembered of failures and changes; undefined: nothing. */
  readonly history: HistoryPlan | undefined;
  /** The dashboard that the server shows of itself; undefined: none. */
  readonly dashboard: OwnDashboardPlan | undefined;
  /** Sets of nftables for the addresses of answers. */
  readonly nftset: readonly NftsetRule[];
  /** A file of further plugins in Corefile syntax; undefined: none. */
  readonly blocksExtra: string | undefined;
  /** Milliseconds after which a state is too old to use; 0: never. */
  readonly snapshotMaxAge: number;
  /** Milliseconds until an incomplete initial list of the cluster is reported as an error. */
  readonly initialSyncTimeout: number;
  /** When names that the cluster has lost are kept for a time; undefined: never. */
  readonly losses: LossRule | undefined;
  /** Milliseconds for which a stopping server still answers after it reports not ready. */
  readonly lameduck: number;
  /** Milliseconds after the stop signal until which it answers on while queries arrive, if that is longer. */
  readonly drain: number;
}

/** What the server says about itself to clients. */
export interface IdentityPlan {
  /** `version.bind` and `version.server` are refused. */
  readonly hidesVersion: boolean;
  /** `hostname.bind` and `id.server` are refused. */
  readonly hidesHost: boolean;
  /** The answer to NSID (RFC 5001); undefined: none. */
  readonly nsid: NsidOptions | undefined;
}

/** The zone of a Kubernetes cluster. */
export interface ClusterPlan {
  /** The apex of the zone; `svc` and `pod` are below it. */
  readonly domain: NameKey;
  readonly dialect: Dialect['name'];
  readonly pods: PodMode;
  /** Seconds, 0 to 3600. */
  readonly ttl: number;
  /** The ranges of pods and nodes; undefined: not known. */
  readonly endpointRanges: readonly AddressRange[] | undefined;
  /** Whether services have HTTPS records. */
  readonly hasHttpsRecords: boolean;
  /** Which services each client sees; undefined: all. */
  readonly tenants: TenantRules | undefined;
  /** How nodes are used; undefined: they are not watched. */
  readonly nodes: NodesUse | undefined;
  readonly objects: ObjectsPlan;
}

/** How to resolve names outside the cluster, and how to cache the answers. */
export interface ResolverPlan {
  readonly upstreams: UpstreamsChoice;
  readonly policy: Policy;
  /** Whether to trust the AD bit of upstream servers. */
  readonly trustsAd: boolean;
  /** Whether to randomize the case of names in upstream queries. */
  readonly mixesCase: boolean;
  /** Rules for one or more domains each; they take precedence over `upstreams`. */
  readonly stubDomains: readonly ForwardRule[];
  /** Hosts files, and folders of them, in reading order. */
  readonly hosts: readonly string[];
  /** The cache size in octets; 0: no cache. */
  readonly cacheOctets: number;
  /** The maximum number of cached answers; undefined: limited by octets only. */
  readonly cacheEntries: number | undefined;
  /** The settings of a file of dnsmasq options. */
  readonly dnsmasq: DnsmasqPlan | undefined;
  /** Notes about these options for the log at start. */
  readonly notes: readonly string[];
}

/** The servers for names without a rule. */
export type UpstreamsChoice =
  /** Refuse such names. */
  | { readonly kind: 'none' }
  | { readonly kind: 'servers'; readonly servers: readonly UpstreamAddress[] }
  /** The nameservers of a resolv.conf, reread when it changes. */
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
      /** Milliseconds between polls, if the system does not report changes. */
      readonly period: number;
    }
  | { readonly kind: 'config-map'; readonly namespace: string; readonly name: string };

export interface LogPlan {
  /** The level at start; it may change at run time. */
  readonly level: LogLevel;
  readonly format: LogFormat;
}
