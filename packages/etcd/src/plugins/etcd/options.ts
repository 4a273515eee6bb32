/**
 * Names from the keys of an etcd.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import type { SnapshotSettings } from '@portolan/kubernetes/snapshot/snapshot-keeper.ts';
import type { EtcdSettings } from '../../source/client/settings.ts';
import type { EtcdSourceSettings } from '../../source/etcd-source.ts';

export type EtcdOptions = CoreDnsEtcdOptions | SkyDnsEtcdOptions;

/** As the plugin `etcd` of CoreDNS answers them. */
export interface CoreDnsEtcdOptions {
  readonly kind: 'coredns';
  readonly zones: readonly NameKey[];
  readonly etcd: EtcdSettings;
  /** Prefix of all keys. */
  readonly path: string;
  /** Seconds: bounds of the TTL that is derived from the rest of a lease. */
  readonly minLease: number;
  readonly maxLease: number;
  /** Zones in which missing names go to the next handler; empty: in none. */
  readonly fallthrough: readonly NameKey[];
  /** Whether the answer for a record with a text also has its host name. */
  readonly aliasesBesideText: boolean;
  /** Where the keys are saved for a start without etcd; undefined: not saved. */
  readonly snapshot: SnapshotSettings | undefined;
}

/** As SkyDNS answers them. */
export interface SkyDnsEtcdOptions {
  readonly kind: 'skydns';
  /** It belongs to the process: a changed plan does not change it. */
  readonly source: EtcdSourceSettings;
  /** Zones in which missing names are forwarded. */
  readonly fallthrough: readonly NameKey[];
  /** TTL of an SOA record as an answer, in seconds. */
  readonly soaTtl: number;
  /** Stub zones: their names go to the next handler. */
  readonly exceptions: readonly NameKey[];
  /** A name that has the records of another one, under its own; undefined: there is none. */
  readonly localName: { readonly alias: NameKey; readonly name: NameKey } | undefined;
}
