/**
 * Endpoints by their label below the service: endpoints with the same label share a name.
 */
import { type Endpoint, keyOfEndpoint } from './endpoints.ts';
import { replaceInOrder } from './ordered-list.ts';

export interface LabelGroup {
  readonly label: string;
  /** At least one, in order. */
  readonly endpoints: readonly Endpoint[];
}

/** @returns groups in the order of their first endpoints */
export function groupByLabel(
  endpoints: readonly Endpoint[],
  labelOf: (endpoint: Endpoint) => string,
): readonly LabelGroup[] {
  const [only] = endpoints;
  if (endpoints.length === 1 && only !== undefined) return [{ label: labelOf(only), endpoints }];
  const byLabel = new Map<string, Endpoint[]>();
  for (const endpoint of endpoints) {
    const label = labelOf(endpoint);
    const others = byLabel.get(label);
    if (others === undefined) byLabel.set(label, [endpoint]);
    else others.push(endpoint);
  }
  return Array.from(byLabel, ([label, group]) => ({ label, endpoints: group }));
}

/** The groups of endpoints that change a few at a time. */
export class LabelGroups {
  readonly #labelOf: (endpoint: Endpoint) => string;
  readonly #byLabel = new Map<string, LabelGroup>();
  #ordered: readonly LabelGroup[] = [];

  constructor(labelOf: (endpoint: Endpoint) => string) {
    this.#labelOf = labelOf;
  }

  /** As `groupByLabel`. An unchanged group is the same value. */
  get ordered(): readonly LabelGroup[] {
    return this.#ordered;
  }

  replace(removed: readonly Endpoint[], added: readonly Endpoint[]): void {
    const gone = new Set(removed);
    const come = new Map(
      groupByLabel(added, this.#labelOf).map(({ label, endpoints }) => [label, endpoints]),
    );
    const labels = new Set([...removed.map(this.#labelOf), ...come.keys()]);
    const before = [...labels]
      .map((label) => this.#byLabel.get(label))
      .filter((group) => group !== undefined);
    const changes = new Map<string, LabelGroup | undefined>(
      before.map((group) => [keyOfGroup(group), undefined]),
    );
    for (const label of labels) {
      const stayed = this.#byLabel.get(label)?.endpoints.filter((endpoint) => !gone.has(endpoint)) ?? [];
      const endpoints = [...stayed, ...(come.get(label) ?? [])].sort(compareEndpoints);
      const group = { label, endpoints };
      if (endpoints.length === 0) this.#byLabel.delete(label);
      else {
        this.#byLabel.set(label, group);
        changes.set(keyOfGroup(group), group);
      }
    }
    this.#ordered = replaceInOrder(this.#ordered, keyOfGroup, changes);
  }
}

const compareEndpoints = (one: Endpoint, other: Endpoint): number =>
  keyOfEndpoint(one) < keyOfEndpoint(other) ? -1 : 1;

/** An endpoint determines its label, so only this group has this key. */
function keyOfGroup({ endpoints: [first] }: LabelGroup): string {
  return first === undefined ? '' : keyOfEndpoint(first);
}
