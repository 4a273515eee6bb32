/**
 * The services that were asked for last on the slow way, derived once for all questions about them.
 *
 * What is kept is good as long as the objects it was derived from are the same ones.
 */
import type { NameKey } from '../../wire/types.ts';
import type { ZoneNode } from '../../zone/node.ts';
import type { ServiceView } from '../dialects/dialect.ts';
import type { ClusterModel } from './model.ts';
import type { ServiceUnit } from './service-units.ts';

/** A service may have thousands of endpoints: few are kept. */
const MAX_KEPT = 8;

/** A service that has names. */
export interface NamedService {
  readonly view: ServiceView;
  readonly nodeOf: ReadonlyMap<NameKey, ZoneNode>;
}

interface Kept {
  readonly from: readonly [
    service: string | undefined,
    endpoints: readonly string[],
    endpointsKnown: boolean,
  ];
  readonly service: NamedService | undefined;
}

export class DerivedServices {
  readonly #model: ClusterModel;
  readonly #kept = new Map<ServiceUnit, Kept>();

  constructor(model: ClusterModel) {
    this.#model = model;
  }

  find(namespace: string, name: string): NamedService | undefined {
    const unit = this.#model.units.find(namespace, name);
    if (unit === undefined) return undefined;
    const from = [unit.service, unit.endpoints, this.#model.endpointsKnown] as const;
    const kept = this.#kept.get(unit);
    if (kept?.from.every((part, index) => part === from[index])) return kept.service;
    const service = this.#derive(unit);
    this.#keep(unit, { from, service });
    return service;
  }

  #derive(unit: ServiceUnit): NamedService | undefined {
    const view = this.#model.viewOf(unit);
    const { nodes } = this.#model.derive(view);
    if (view === undefined || nodes.length === 0) return undefined;
    return { view, nodeOf: new Map(nodes.map((node) => [node.name, node])) };
  }

  #keep(unit: ServiceUnit, kept: Kept): void {
    this.#kept.delete(unit);
    this.#kept.set(unit, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest);
  }
}
