/**
 * The settings of `etcd-zones`.
 */
import type { EtcdSourceSettings } from '../../sources/etcd/etcd-source.ts';
import type { NameKey } from '../../wire/types.ts';

export interface EtcdZonesOptions {
  /** It belongs to the process: a changed plan leaves it as it was. */
  readonly source: EtcdSourceSettings;
  /** Zones in which missing names are forwarded. */
  readonly fallthrough: readonly NameKey[];
  /** Seconds, of an SOA record that is asked for. */
  readonly soaTtl: number;
}
