/**
 * The state of each service and namespace: their objects as lines, and their nodes in the table.
 *
 * It must stay small with ten thousand services: it holds references, not derived values.
 */
import { type KeptNodes, NOTHING, type Standing } from '../../zone/publish.ts';
import type { ServiceView } from '../dialects/dialect.ts';
import type { EndpointIndex } from '../names/endpoint-index.ts';
import { NO_NAMES, type OwnedNames, type ReverseOwner } from '../names/reverse-index.ts';
import type { ObjectLine } from '../objects/object-line.ts';

/** One service, with the objects of its endpoints. Either may exist without the other. */
export interface ServiceUnit extends ReverseOwner {
  readonly namespace: NamespaceUnit;
  readonly name: string;
  service: ObjectLine | undefined;
  /** In order of arrival, which has no meaning. Replaced, never extended: a growing array reserves extra memory. */
  endpoints: readonly ObjectLine[];
  standing: Standing;
  reverse: OwnedNames;
  /** Of a service with many endpoints: state that makes the cost of a change depend on the slice, not the service. */
  kept: KeptService | undefined;
}

export interface KeptService {
  readonly endpoints: EndpointIndex;
  /** The nodes in the table; undefined before the first are published. */
  nodes: KeptNodes | undefined;
  /** The view that these nodes were derived from; undefined before they are published. */
  view: ServiceView | undefined;
}

export interface NamespaceUnit {
  readonly name: string;
  /** Whether the Namespace object exists. */
  hasObject: boolean;
  readonly services: Map<string, ServiceUnit>;
  /** Number of its services that have names. */
  live: number;
  /** Its services of type ExternalName. */
  readonly externalNames: Set<string>;
  standing: Standing;
}

const NO_LINES: readonly ObjectLine[] = [];

export class ServiceUnits {
  readonly #namespaces = new Map<string, NamespaceUnit>();

  /** The unit of a service, created on demand. */
  unit(namespace: string, name: string): ServiceUnit {
    const parent = this.namespace(namespace);
    const unit = parent.services.get(name);
    if (unit !== undefined) return unit;
    const made = {
      namespace: parent,
      name,
      service: undefined,
      endpoints: NO_LINES,
      standing: NOTHING,
      reverse: NO_NAMES,
      kept: undefined,
    };
    parent.services.set(name, made);
    return made;
  }

  /** The unit of a namespace, created on demand. */
  namespace(name: string): NamespaceUnit {
    const unit = this.#namespaces.get(name);
    if (unit !== undefined) return unit;
    const made = {
      name,
      hasObject: false,
      services: new Map(),
      live: 0,
      externalNames: new Set<string>(),
      standing: NOTHING,
    };
    this.#namespaces.set(name, made);
    return made;
  }

  find(namespace: string, name: string): ServiceUnit | undefined {
    return this.#namespaces.get(namespace)?.services.get(name);
  }

  findNamespace(name: string): NamespaceUnit | undefined {
    return this.#namespaces.get(name);
  }

  namespaces(): Iterable<NamespaceUnit> {
    return this.#namespaces.values();
  }

  *services(): Iterable<ServiceUnit> {
    for (const { services } of this.#namespaces.values()) yield* services.values();
  }

  /** Removes a unit that is empty, and then its namespace if that is empty. */
  drop(unit: ServiceUnit): void {
    if (unit.service !== undefined || unit.endpoints.length > 0 || unit.standing.length > 0) return;
    const { services } = unit.namespace;
    // Another unit may have its name by now.
    if (services.get(unit.name) === unit) services.delete(unit.name);
    this.dropNamespace(unit.namespace);
  }

  dropNamespace(namespace: NamespaceUnit): void {
    if (namespace.hasObject || namespace.services.size > 0 || namespace.standing.length > 0) return;
    if (this.#namespaces.get(namespace.name) === namespace) this.#namespaces.delete(namespace.name);
  }
}
