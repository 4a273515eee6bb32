/**
 * The metrics of node-cache: errors of the network setup and of the ConfigMap, as in the original, and the state of its rules.
 */
import { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import type { NodeNetwork, SetupError } from './node-network.ts';

export type NodeCacheError = SetupError | 'configmap';

const ERRORS = [
  'configmap',
  'interface_add',
  'interface_check',
  'iptables',
  'iptables_lock',
] as const satisfies readonly NodeCacheError[];

export class NodeCacheMetrics {
  #metrics = new MetricRegistry();
  #network: Pick<NodeNetwork, 'rulesIn' | 'missingRules' | 'wantsRules'> | undefined;
  readonly #counts = new Map<NodeCacheError, number>(ERRORS.map((error) => [error, 0]));

  constructor() {
    this.countInto(this.#metrics);
  }

  /** Continues counting in the metrics of a server, so that both ports show all metrics. */
  countInto(metrics: MetricRegistry): void {
    this.#metrics = metrics;
    for (const [errortype, count] of this.#counts) this.#counter().inc({ errortype }, count);
    metrics.collectBy(() => this.#showRules());
  }

  /** From now on, the state of its rules is shown. */
  showRules(network: Pick<NodeNetwork, 'rulesIn' | 'missingRules' | 'wantsRules'>): void {
    this.#network = network;
  }

  addError(error: NodeCacheError): void {
    this.#counts.set(error, (this.#counts.get(error) ?? 0) + 1);
    this.#counter().inc({ errortype: error });
  }

  /** All metrics, in the text format of Prometheus. */
  render(): string {
    return this.#metrics.render();
  }

  #showRules(): void {
    const help =
      'The packet filter with the rules of node-cache, and the way of the probes that they stand by';
    const gauge = this.#metrics.gauge('portolan_nodecache_rules', help, ['filter', 'probe']);
    gauge.reset();
    const rules = this.#network?.rulesIn;
    if (rules !== undefined) gauge.set({ filter: rules.filter, probe: rules.probe }, 1);
    // A gauge of its own: an alert cannot tell a series that is missing from a server that is to set no rules.
    if (this.#network?.wantsRules !== true) return;
    const helpOfMissing = 'Whether the rules of node-cache are missing although it is to set them';
    const missing = this.#metrics.gauge('portolan_nodecache_rules_missing', helpOfMissing);
    missing.set({}, this.#network.missingRules === undefined ? 0 : 1);
  }

  #counter() {
    const help = 'The number of errors during periodic network setup for node-cache';
    return this.#metrics.counter('coredns_nodecache_setup_errors_total', help, ['errortype']);
  }
}
