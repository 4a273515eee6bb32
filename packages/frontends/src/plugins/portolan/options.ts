/**
 * Features that CoreDNS does not have. Each one belongs to another plugin of the block, or to its listeners.
 */
import type { AddressRange } from '@portolan/dns/address-range.ts';
import type { AdmissionLimits } from '@portolan/kernel/forward/admission/admission.ts';
import type { ClientRules } from '@portolan/kernel/listen/client-rules.ts';
import type { KubernetesSnapshot } from '@portolan/kubernetes/plugins/kubernetes/options.ts';
import type { TenantRules } from '@portolan/kubernetes/publish/tenant-rules.ts';
import type { CacheServeStale } from '@portolan/plugins/cache/options.ts';
import type { DiscoveryOptions } from '@portolan/plugins/discovery/options.ts';
import type { NftsetRule } from '@portolan/plugins/nftset/options.ts';

export interface PreferZone {
  /** The node of all clients. Undefined: their addresses tell. */
  readonly node: string | undefined;
}

export interface PortolanOptions {
  /** Of the cluster of `kubernetes`. Undefined: none is kept. */
  readonly snapshot: KubernetesSnapshot | undefined;
  /** Of the pods and nodes of the cluster of `kubernetes`. Undefined: not known. */
  readonly endpointRanges: readonly AddressRange[] | undefined;
  /** Whether the ranges are also learned from the nodes of the cluster. */
  readonly learnsRanges: boolean;
  /** Whether clients get endpoints in their zone, for the cluster of `kubernetes`. Undefined: no. */
  readonly preferZone: PreferZone | undefined;
  /** What clients of the block's listeners may do. Undefined: everything. */
  readonly clients: ClientRules | undefined;
  /** Bounds of each `forward`, in place of the default ones. */
  readonly admission: Partial<AdmissionLimits>;
  /** Whether `cache` refreshes answers that clients have asked for again, shortly before they expire. */
  readonly prefetch: boolean;
  /** How `cache` serves expired answers. Undefined: as its own options say. */
  readonly stale: CacheServeStale | undefined;
  /** Whether `forward` asks a second server before the first is overdue. Undefined: unless `policy sequential` binds the order. */
  readonly hedges: boolean | undefined;
  /** Until when after the stop signal the server answers on while queries arrive: milliseconds. Undefined: the default. */
  readonly drain: number | undefined;
  /** Whether the server always counts its queries for `portolan top`. */
  readonly stats: boolean;
  /** What the server remembers of failures and changes, as words: `off`, `size=32M`. Undefined: the block says nothing of it. */
  readonly history: readonly string[] | undefined;
  /** The query log of the server, as words: `zone=example.com`. Undefined: the block says nothing of it. */
  readonly queryLog: readonly string[] | undefined;
  /** The rule of the server for sudden losses, as words: `hold=5m`. Undefined: the block says nothing of it. */
  readonly suddenLoss: readonly string[] | undefined;
  /** Whether services have HTTPS records, for the cluster of `kubernetes`. */
  readonly httpsRecords: boolean;
  /** Which services of the cluster of `kubernetes` each client sees. Undefined: all. */
  readonly tenants: TenantRules | undefined;
  /** Whether clients of plain DNS may discover the encrypted listeners. Undefined: `resolver.arpa` is a name like any other. */
  readonly discovery: Pick<DiscoveryOptions, 'name'> | undefined;
  /** Sets of nftables for the addresses of answers. */
  readonly nftset: readonly NftsetRule[];
}
