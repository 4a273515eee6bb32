/**
 * The metric of node-cache: errors of setting up the node's network and of the ConfigMap.
 */
import { type MetricFamily, writeLabels, writeMetrics } from '../../observe/metrics/text.ts';
import type { SetupError } from './node-network.ts';

export type NodeCacheError = SetupError | 'configmap';

const ERRORS = [
  'configmap',
  'interface_add',
  'interface_check',
  'iptables',
  'iptables_lock',
] as const satisfies readonly NodeCacheError[];

export class SetupErrorCounts {
  readonly #counts = new Map<NodeCacheError, number>(ERRORS.map((error) => [error, 0]));

  add(error: NodeCacheError): void {
    this.#counts.set(error, (this.#counts.get(error) ?? 0) + 1);
  }

  /** In the text format of Prometheus. */
  metrics(): string {
    const family: MetricFamily = {
      name: 'coredns_nodecache_setup_errors_total',
      help: 'The number of errors during periodic network setup for node-cache',
      type: 'counter',
      samples: ERRORS.map((error) => [writeLabels({ errortype: error }), this.#counts.get(error) ?? 0]),
    };
    return writeMetrics([family]);
  }
}
