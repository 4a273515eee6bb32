/**
 * The evidence of a cluster, from the records that a server keeps. They have no selectors.
 */
import type { Cluster } from '@portolan/kubernetes/publish/cluster.ts';
import type { ServiceEndpoint } from '@portolan/kubernetes/records/cluster-contents.ts';
import { serviceKey } from '@portolan/kubernetes/records/fill-drafts.ts';
import type {
  ClusterEvidence,
  EndpointEvidence,
  ServiceEvidence,
  ServiceName,
} from '@portolan/server/reasons/cluster-evidence.ts';

export class RecordEvidence implements ClusterEvidence {
  readonly #cluster: Cluster;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  hasNamespace(namespace: string): boolean {
    return this.#cluster.contents.hasNamespace(namespace);
  }

  findService(namespace: string, name: string): ServiceEvidence | undefined {
    const service = this.#cluster.contents.service(namespace, name);
    if (service === undefined) return undefined;
    const { ready, notReady, terminating } = this.#cluster.contents.endpoints(namespace, name);
    return {
      namespace,
      name,
      address: service.address,
      ports: service.ports.map((port) => ({ ...port, protocol: port.protocol.toLowerCase() })),
      selector: undefined,
      selectedPods: undefined,
      endpoints: {
        ready: ready.map(toEvidence),
        notReady: notReady.map(toEvidence),
        terminating: terminating.map(toEvidence),
      },
    };
  }

  services(): Iterable<ServiceName> {
    return this.#cluster.contents.services();
  }

  namespaces(): Iterable<string> {
    return this.#cluster.contents.namespaces();
  }

  goneSince(namespace: string, name: string): number | undefined {
    const key = serviceKey(namespace, name);
    return key && this.#cluster.log.goneSince(key);
  }
}

const toEvidence = ({ address, hostname }: ServiceEndpoint): EndpointEvidence => ({
  address,
  hostname,
  pod: undefined,
});
