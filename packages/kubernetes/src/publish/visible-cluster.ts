/**
 * The cluster as one client sees it: objects of other tenants are absent.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import type { ZoneNode } from '@portolan/kernel/zone/node.ts';
import type { Zone } from '@portolan/kernel/zone/zone.ts';
import type { ServiceView } from '../dialects/dialect.ts';
import type { PodMode } from '../names/pods.ts';
import type { NamedService } from './derived-services.ts';
import type { ClusterModel } from './model.ts';
import type { ModelOptions } from './model-options.ts';
import type { NamedCluster } from './names.ts';
import type { Sight } from './tenants.ts';

export class VisibleCluster implements NamedCluster {
  readonly #model: ClusterModel;
  readonly #sight: Sight;

  constructor(model: ClusterModel, sight: Sight) {
    this.#model = model;
    this.#sight = sight;
  }

  get options(): ModelOptions {
    return this.#model.options;
  }

  get pods(): PodMode {
    return this.#model.pods;
  }

  get ttl(): number {
    return this.#model.ttl;
  }

  get zones(): readonly Zone[] {
    return this.#model.zones;
  }

  get ownNodes(): ReadonlyMap<NameKey, ZoneNode> {
    return this.#model.ownNodes;
  }

  get reverse(): NamedCluster['reverse'] {
    const { reverse } = this.#model;
    const isVisible = (namespace: string, service: string) => this.#sight.seesService(namespace, service);
    return {
      find: (name) => reverse.find(name, isVisible),
      hasBelow: (name) => reverse.mayHaveBelow(name, isVisible),
    };
  }

  service(namespace: string, name: string): NamedService | undefined {
    return this.#sight.seesService(namespace, name) ? this.#model.service(namespace, name) : undefined;
  }

  view(namespace: string, service: string): ServiceView | undefined {
    return this.#sight.seesService(namespace, service) ? this.#model.view(namespace, service) : undefined;
  }

  namespaceExists(namespace: string): boolean {
    if (this.#sight.seesNamespace(namespace)) return this.#model.namespaceExists(namespace);
    const { usesNamespaces } = this.options.dialect;
    for (const service of this.#sight.sharedIn(namespace))
      if (usesNamespaces || this.#model.service(namespace, service) !== undefined) return true;
    return false;
  }

  *namespaces(): Iterable<string> {
    for (const namespace of this.#model.namespaces())
      if (this.#sight.seesNamespace(namespace) || this.namespaceExists(namespace)) yield namespace;
  }

  services(namespace: string): Iterable<string> {
    return this.#visibleIn(namespace, this.#model.services(namespace));
  }

  externalNames(namespace: string): Iterable<string> {
    return this.#visibleIn(namespace, this.#model.externalNames(namespace));
  }

  hasPod(namespace: string, address: string): boolean {
    return this.#sight.seesNamespace(namespace) && this.#model.hasPod(namespace, address);
  }

  *#visibleIn(namespace: string, services: Iterable<string>): Iterable<string> {
    for (const service of services) if (this.#sight.seesService(namespace, service)) yield service;
  }
}
