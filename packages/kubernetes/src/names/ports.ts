/**
 * Ports by name: `_port._protocol` below a service (Kubernetes DNS specification, sections 2.3.2 and 2.4.2).
 */
import type { ServicePort } from '../objects/objects.ts';
import { portLabel } from './labels.ts';

/** The two labels of a named port, joined; undefined for a port without a name. */
export function portLabels(port: ServicePort): string | undefined {
  if (port.name === '') return undefined;
  const label = portLabel(port.name);
  return label === undefined ? undefined : `${label}._${port.protocol.toLowerCase()}`;
}

/** Items by the labels of their port, without items whose port has no name. */
export function groupByPort<Item extends { readonly port: ServicePort }>(
  items: readonly Item[],
): ReadonlyMap<string, readonly Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const labels = portLabels(item.port);
    if (labels === undefined) continue;
    const group = groups.get(labels);
    if (group === undefined) groups.set(labels, [item]);
    else group.push(item);
  }
  return groups;
}

/** The labels of the protocols, without duplicates: empty non-terminals above the ports. */
export function protocolLabels(groups: ReadonlyMap<string, unknown>): readonly string[] {
  return [...new Set(Array.from(groups.keys(), (labels) => labels.slice(labels.indexOf('.') + 1)))];
}
