/**
 * Endpoints that are names: those of slices of `addressType: FQDN`, merged from all slices of a service.
 *
 * They are sorted by name, so that equal slices give equal answers in any order of arrival.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import type { ServicePort } from '../objects/objects.ts';
import { haveSamePorts, mergePorts } from './endpoints.ts';

export interface NamedTarget {
  readonly target: NameKey;
  /** Of the endpoint's own name below the service; undefined: it has none. */
  readonly label: string | undefined;
  readonly ports: readonly ServicePort[];
}

/** The targets of all slices, each once with the ports of all slices that have it. */
export function mergeTargets(targets: readonly NamedTarget[]): readonly NamedTarget[] {
  const merged = new Map<string, NamedTarget>();
  for (const target of targets) {
    const key = keyOfTarget(target);
    const before = merged.get(key);
    const isNew = before === undefined || haveSamePorts(before, target);
    merged.set(key, isNew ? target : { ...target, ports: mergePorts(before.ports, target.ports) });
  }
  return [...merged].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, target]) => target);
}

const keyOfTarget = ({ target, label = '' }: NamedTarget): string => `${target} ${label}`;
