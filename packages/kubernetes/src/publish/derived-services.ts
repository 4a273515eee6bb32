/**
 * Services as names are derived from them, for the handler chain: those of recent questions are kept.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import { SERVICE } from '@portolan/kernel/records/layout.ts';
import type { RecordWriter } from '@portolan/kernel/records/record-writer.ts';
import type { ZoneNode } from '@portolan/kernel/zone/node.ts';
import type { NodeFinder, ServiceView } from '../dialects/dialect.ts';
import { mergeTargets } from '../names/endpoint-targets.ts';
import { mergeEndpoints } from '../names/endpoints.ts';
import { nameBelow } from '../names/labels.ts';
import type { ReverseName } from '../names/reverse-name.ts';
import { RecordViews } from '../records/record-views.ts';
import type { HasModelOptions, ModelOptions } from './model-options.ts';

/** A service may have thousands of endpoints: few are kept. */
const MAX_KEPT = 8;

/** A service that has names. */
export interface NamedService {
  readonly view: ServiceView;
  readonly findNode: NodeFinder;
  readonly reverse: readonly ReverseName[];
}

interface Kept {
  readonly version: number;
  readonly areEndpointsKnown: boolean;
  readonly options: ModelOptions;
  readonly service: NamedService | undefined;
}

export class DerivedServices {
  readonly #writer: RecordWriter;
  readonly #views: RecordViews;
  readonly #model: HasModelOptions;
  /** By the octets of their entries. */
  readonly #kept = new Map<number, Kept>();
  /** Whether endpoints are known; until then a headless service would have too few of them. */
  areEndpointsKnown = false;

  constructor(writer: RecordWriter, model: HasModelOptions) {
    this.#writer = writer;
    this.#views = new RecordViews(writer);
    this.#model = model;
  }

  /** @param entry the octet of a service's entry, 0 for none */
  find(entry: number): NamedService | undefined {
    if (entry === 0) return undefined;
    const version = this.#writer.space.views.atoms[(entry + SERVICE.VERSION) >> 2] ?? 0;
    const { areEndpointsKnown } = this;
    const { options } = this.#model;
    const kept = this.#kept.get(entry);
    const isOfOptions = kept?.areEndpointsKnown === areEndpointsKnown && kept.options === options;
    if (isOfOptions && kept.version === version) return kept.service;
    const service = this.#derive(entry);
    this.#keep(entry, { version, areEndpointsKnown, options, service });
    return service;
  }

  /** A service with its endpoints; undefined if only its slices are known. */
  readServiceView(entry: number): ServiceView | undefined {
    const { domain, ttl, ignoresEmptyServices, hasHttpsRecords, filteredTypes } = this.#model.options;
    const service = this.#views.service(entry);
    if (service === undefined) return undefined;
    const name = nameBelow(`${service.name}.${service.namespace}.svc`, domain);
    if (name === undefined) return undefined;
    const endpoints = mergeEndpoints(this.#views.endpoints(entry));
    const targets = mergeTargets(this.#views.targets(entry));
    const shared = { ttl, domain, ignoresEmptyServices, hasHttpsRecords, filteredTypes };
    return { name, service, endpoints, targets, ...shared };
  }

  #derive(entry: number): NamedService | undefined {
    const view = this.readServiceView(entry);
    if (view === undefined) return undefined;
    if (view.service.address.kind === 'headless' && !this.areEndpointsKnown) return undefined;
    const { nodes, reverse } = this.#model.options.dialect.derive(view);
    if (nodes.length === 0 && reverse.length === 0) return undefined;
    const byName = new Map<NameKey, ZoneNode>(nodes.map((node) => [node.name, node]));
    return { view, findNode: (name) => byName.get(name), reverse };
  }

  #keep(entry: number, kept: Kept): void {
    this.#kept.delete(entry);
    this.#kept.set(entry, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest);
  }
}
