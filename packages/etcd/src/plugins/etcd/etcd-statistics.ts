/**
 * How the keys of etcd are followed, for readiness and metrics. It is apart from the plugin, whose code servers without etcd do not load.
 */
import { Capability } from '@portolan/kernel/base/capability.ts';
import type { PluginInspection } from '@portolan/kernel/contract/inspection.ts';
import type { EtcdStats } from '../../source/etcd-source.ts';

export interface EtcdStatistics extends EtcdStats {
  readonly isKnown: boolean;
}

const ETCD_STATISTICS = new Capability<EtcdStatistics>('etcd statistics');

export function inspectEtcd(statistics: EtcdStatistics): PluginInspection {
  return { offers: [ETCD_STATISTICS.offer(statistics)] };
}

/** Undefined: no names come from etcd. */
export function findEtcdStatistics(inspections: readonly PluginInspection[]): EtcdStatistics | undefined {
  return ETCD_STATISTICS.findIn(inspections)[0];
}
