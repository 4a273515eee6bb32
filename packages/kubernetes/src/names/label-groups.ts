/**
 * Endpoints by their label below the service: endpoints with the same label share a name.
 */
import type { Endpoint } from './endpoints.ts';

export interface LabelGroup<Each = Endpoint> {
  readonly label: string;
  /** At least one, in order. */
  readonly endpoints: readonly Each[];
}

/**
 * @param toLabel undefined: the endpoint has no name of its own
 * @returns groups in the order of their first endpoints
 */
export function groupByLabel<Each>(
  endpoints: readonly Each[],
  toLabel: (endpoint: Each) => string | undefined,
): readonly LabelGroup<Each>[] {
  const byLabel = new Map<string, Each[]>();
  for (const endpoint of endpoints) {
    const label = toLabel(endpoint);
    if (label === undefined) continue;
    const others = byLabel.get(label);
    if (others === undefined) byLabel.set(label, [endpoint]);
    else others.push(endpoint);
  }
  return Array.from(byLabel, ([label, group]) => ({ label, endpoints: group }));
}
