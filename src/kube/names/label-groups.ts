/**
 * Endpoints by their label below the service: endpoints with the same label share a name.
 */
import type { Endpoint } from './endpoints.ts';

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
  const byLabel = new Map<string, Endpoint[]>();
  for (const endpoint of endpoints) {
    const label = labelOf(endpoint);
    const others = byLabel.get(label);
    if (others === undefined) byLabel.set(label, [endpoint]);
    else others.push(endpoint);
  }
  return Array.from(byLabel, ([label, group]) => ({ label, endpoints: group }));
}
