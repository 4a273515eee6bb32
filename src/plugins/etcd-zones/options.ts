/**
 * The settings of `etcd-zones`.
 */
import type { EtcdSourceSettings } from '../../sources/etcd/etcd-source.ts';
import type { NameKey } from '../../wire/types.ts';

export interface EtcdZonesOptions {
  /** It belongs to the process: a changed plan does not change it. */
  readonly source: EtcdSourceSettings;
  /** Zones in which missing names are forwarded. */
  readonly fallthrough: readonly NameKey[];
  /** TTL of an SOA record as an answer, in seconds. */
  readonly soaTtl: number;
}
