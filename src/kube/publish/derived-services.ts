/**
 * The services of recent questions that the table did not answer, derived once for all questions about them.
 *
 * A kept service is valid while the objects it was derived from are unchanged. A service with many endpoints is never derived
 * for a question: its names are those in the table.
 */
import type { NodeFinder, ServiceView } from '../dialects/dialect.ts';
import type { ClusterModel } from './model.ts';
import type { KeptService, ServiceUnit } from './service-units.ts';

/** A service may have thousands of endpoints: few are kept. */
const MAX_KEPT = 8;

/** A service that has names. */
export interface NamedService {
  readonly view: ServiceView;
  readonly nodeOf: NodeFinder;
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
    if (unit.kept?.view !== undefined) return { view: unit.kept.view, nodeOf: standingNodes(unit.kept) };
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
    const byName = new Map(nodes.map((node) => [node.name, node]));
    return { view, nodeOf: (name) => byName.get(name) };
  }

  #keep(unit: ServiceUnit, kept: Kept): void {
    this.#kept.delete(unit);
    this.#kept.set(unit, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest);
  }
}

function standingNodes({ nodes }: KeptService): NodeFinder {
  return (name) => nodes?.byName.get(name)?.node;
}
