/**
 * Which services a client sees: those of its own tenant, and those that are shared. The value of a label of namespaces is their tenant.
 *
 * What is not known is not seen: neither a namespace without its object, nor the tenant of a client whose pod is not listed.
 */
import { parseAddress } from '@portolan/dns/address.ts';
import { type AddressMatch, matchRanges } from '@portolan/dns/address-range.ts';
import { canonicalClient } from '../names/endpoints.ts';
import { PodNamespaces } from '../names/pod-namespaces.ts';
import { ObjectFacts } from '../objects/object-facts.ts';
import type { NamespaceObject, ObjectKey, ObjectSink, PodObject, ServiceObject } from '../objects/objects.ts';
import type { TenantRules } from './tenant-rules.ts';

/** What one client sees. */
export interface Sight {
  /** Its tenant; undefined: it is no pod, or one of a shared namespace. */
  readonly tenant: string | undefined;
  /** Whether it sees all services and pods of a namespace. */
  seesNamespace(namespace: string): boolean;
  seesService(namespace: string, service: string): boolean;
  /** The services that it sees in a namespace of which it does not see all. */
  sharedIn(namespace: string): Iterable<string>;
}

/** Undefined: none, or the namespace is not known. */
export interface TenantsApart {
  readonly owner: string | undefined;
  readonly client: string | undefined;
}

interface NamespaceTenant {
  /** Undefined: none, so that all clients see its services. */
  readonly tenant: string | undefined;
  readonly isShared: boolean;
}

/** Whose objects these are. */
export interface TenantedCluster {
  hasNamespace(namespace: string): boolean;
  hasService(namespace: string, name: string): boolean;
  /** Called when another client sees the names of a namespace. */
  changed(): void;
}

export class Tenants {
  readonly rules: TenantRules;
  readonly #seesAll: AddressMatch;
  readonly #pods = new PodNamespaces();
  readonly #namespaces: ObjectFacts<NamespaceObject, NamespaceTenant>;
  readonly #services: ObjectFacts<ServiceObject, true>;
  /** The services that are shared by themselves, by namespace. */
  readonly #shared = new Map<string, Set<string>>();

  constructor(rules: TenantRules, cluster: TenantedCluster) {
    this.rules = rules;
    this.#seesAll = matchRanges(rules.seenBy);
    this.#namespaces = new ObjectFacts({
      read: ({ labels, isShared = false }) => ({ tenant: labels?.get(rules.label), isShared }),
      isHeld: (key) => cluster.hasNamespace(key),
      changed: () => cluster.changed(),
    });
    this.#services = new ObjectFacts({
      read: ({ isShared }) => (isShared === true ? true : undefined),
      isHeld: (key) => cluster.hasService(...splitKey(key)),
      changed: (key) => {
        this.#noteShared(key);
        cluster.changed();
      },
    });
  }

  get pods(): ObjectSink<PodObject> {
    return this.#pods;
  }

  get namespaces(): ObjectSink<NamespaceObject> {
    return this.#namespaces;
  }

  get services(): ObjectSink<ServiceObject> {
    return this.#services;
  }

  /** What a client sees; undefined: everything. @param client its address, as queries have it */
  findSight(client: string): Sight | undefined {
    const address = canonicalClient(client);
    const octets = address === undefined ? undefined : parseAddress(address);
    if (address === undefined || octets === undefined) return this.strangers;
    if (this.#seesAll(octets)) return undefined;
    const namespace = this.#pods.find(address)?.namespace;
    return this.#createSight(namespace === undefined ? undefined : this.#namespaces.get(namespace)?.tenant);
  }

  /** What a client sees that is no pod. */
  get strangers(): Sight {
    return this.#createSight(undefined);
  }

  /**
   * Whose a service is that a client does not see, or a namespace with all its services; undefined: the client sees it.
   *
   * @param client its address, as queries have it
   */
  findHiding(client: string, namespace: string, service: string | undefined): TenantsApart | undefined {
    const sight = this.findSight(client);
    if (sight === undefined || sight.seesNamespace(namespace)) return undefined;
    const [shared] = sight.sharedIn(namespace);
    if (service === undefined ? shared !== undefined : sight.seesService(namespace, service))
      return undefined;
    return { owner: this.#namespaces.get(namespace)?.tenant, client: sight.tenant };
  }

  #createSight(tenant: string | undefined): Sight {
    const seesNamespace = (namespace: string) => {
      const found = this.#namespaces.get(namespace);
      return found !== undefined && (found.isShared || found.tenant === undefined || found.tenant === tenant);
    };
    return {
      tenant,
      seesNamespace,
      seesService: (namespace, service) =>
        seesNamespace(namespace) || this.#shared.get(namespace)?.has(service) === true,
      sharedIn: (namespace) => this.#shared.get(namespace) ?? [],
    };
  }

  #noteShared(key: ObjectKey): void {
    const [namespace, name] = splitKey(key);
    const services = this.#shared.get(namespace) ?? new Set();
    if (this.#services.get(key) === true) this.#shared.set(namespace, services.add(name));
    else if (services.delete(name) && services.size === 0) this.#shared.delete(namespace);
  }
}

function splitKey(key: ObjectKey): readonly [namespace: string, name: string] {
  const slash = key.indexOf('/');
  return [key.slice(0, slash), key.slice(slash + 1)];
}
