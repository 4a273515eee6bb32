/**
 * All records of a cluster's zone, for transfers. They are those of CoreDNS: names of endpoints of services without an address of their
 * own, and of no others.
 */
import { tryParseName } from '@portolan/dns/name.ts';
import {
  type AbsoluteName,
  CLASS,
  type NameKey,
  type RecordData,
  type ResourceRecord,
} from '@portolan/dns/types.ts';
import { type Endpoint, endpointLabel } from '../../names/endpoints.ts';
import { externalTarget } from '../../names/external-target.ts';
import type { ServiceObject, ServicePort } from '../../objects/objects.ts';
import type { ClusterContents } from '../../records/cluster-contents.ts';
import type { NamespacedName } from '../../records/record-views.ts';

export interface TransferredZoneParts {
  readonly apex: NameKey;
  /** Seconds. */
  readonly ttl: number;
  readonly contents: ClusterContents;
  /** Whether the names of a namespace are shown. */
  readonly isShown: (namespace: string) => boolean;
  /** The NS records and the addresses of the name servers. */
  readonly nameServers: readonly ResourceRecord[];
}

export class TransferredZone {
  readonly #parts: TransferredZoneParts;

  constructor(parts: TransferredZoneParts) {
    this.#parts = parts;
  }

  /**
   * All records but the SOA record. A service that changes while they are taken is given as it is then; the later serial number makes
   * secondary servers ask again.
   */
  *records(): Iterable<ResourceRecord> {
    const { contents, isShown, nameServers } = this.#parts;
    yield* nameServers;
    // A copy: the lists of the records change with the cluster.
    for (const { namespace, name } of [...contents.services()]) {
      const service = isShown(namespace) ? contents.service(namespace, name) : undefined;
      const owner = service && this.#createName({ namespace, name });
      if (service !== undefined && owner !== undefined) yield* this.#ofService(service, owner);
    }
  }

  *#ofService(service: ServiceObject, owner: AbsoluteName): Iterable<ResourceRecord> {
    const { address, ports } = service;
    switch (address.kind) {
      case 'clusterIPs':
        yield* address.addresses.map((each) => this.#address(owner, each));
        yield* ports.flatMap((port) => this.#clusterPort(service, owner, port));
        break;
      case 'externalName': {
        const target = externalTarget(address.name);
        if (target.kind === 'name') yield this.#record(owner, { kind: 'CNAME', target: target.name });
        break;
      }
      case 'headless':
        for (const slice of this.#parts.contents.readySlices(service.namespace, service.name))
          yield* this.#ofSlice(service, owner, slice);
    }
  }

  /** Clients find the ports of a service at its own name too. */
  #clusterPort(service: NamespacedName, target: AbsoluteName, port: ServicePort): readonly ResourceRecord[] {
    const data = { kind: 'SRV', priority: 0, weight: 100, port: port.port, target } as const;
    const named = this.#nameOfPort(service, port);
    return [target, ...(named === undefined ? [] : [named])].map((owner) => this.#record(owner, data));
  }

  *#ofSlice(
    service: NamespacedName,
    owner: AbsoluteName,
    endpoints: readonly Endpoint[],
  ): Iterable<ResourceRecord> {
    const weight = Math.max(1, Math.floor(100 / endpoints.length));
    for (const endpoint of endpoints) {
      yield this.#address(owner, endpoint.address);
      const target = this.#createName(service, endpointLabel(endpoint));
      if (target === undefined) continue;
      yield this.#address(target, endpoint.address);
      for (const port of endpoint.ports) {
        const named = this.#nameOfPort(service, port);
        if (named !== undefined)
          yield this.#record(named, { kind: 'SRV', priority: 0, weight, port: port.port, target });
      }
    }
  }

  #nameOfPort(service: NamespacedName, { name, protocol }: ServicePort): AbsoluteName | undefined {
    return name === '' ? undefined : this.#createName(service, `_${name}._${protocol}`.toLowerCase());
  }

  /** Undefined: it is no name, or too long. @param below labels below that of the service */
  #createName({ namespace, name }: NamespacedName, below?: string): AbsoluteName | undefined {
    const { apex } = this.#parts;
    const labels = [...(below === undefined ? [] : [below]), name, namespace, 'svc'];
    return tryParseName(`${labels.join('.')}.${apex === '.' ? '' : apex}`);
  }

  #address(owner: AbsoluteName, address: string): ResourceRecord {
    return this.#record(owner, { kind: address.includes(':') ? 'AAAA' : 'A', address });
  }

  #record(name: AbsoluteName, data: RecordData): ResourceRecord {
    return { name, class: CLASS.IN, ttl: this.#parts.ttl, data };
  }
}
