/**
 * Names of services that may have been meant: the same name in another namespace, and names that differ by at most two characters.
 */
import { countChanges } from '@portolan/kernel/base/nearest.ts';
import type { ServiceName } from './cluster-evidence.ts';
import type { Near } from './reason.ts';

const MAX_CHANGES = 2;
const MAX_NEAR = 5;

/** Short names differ from many others by two characters. */
function maxChanges(name: string): number {
  return name.length < 4 ? 1 : MAX_CHANGES;
}

/** @returns the nearest first: the same name elsewhere, then names of the same namespace */
export function findNearServices(wanted: ServiceName, services: Iterable<ServiceName>): readonly Near[] {
  const nearest: Near[] = [];
  const rank = ({ namespace, distance }: Near) =>
    distance * 2 + (namespace === wanted.namespace || distance === 0 ? 0 : 1);
  const isNearer = (one: Near, other: Near) =>
    rank(one) === rank(other) ? formatNear(one) < formatNear(other) : rank(one) < rank(other);
  for (const { namespace, name } of services) {
    const distance = computeDistance(wanted.name, name);
    if (distance === undefined || (distance === 0 && namespace === wanted.namespace)) continue;
    const near = { service: name, namespace, distance };
    // Thousands of services may be near: they are not sorted.
    const place = nearest.findIndex((other) => isNearer(near, other));
    if (place >= 0) nearest.splice(place, 0, near);
    else if (nearest.length < MAX_NEAR) nearest.push(near);
    if (nearest.length > MAX_NEAR) nearest.pop();
  }
  return nearest;
}

function formatNear({ service, namespace }: Near): string {
  return `${service}.${namespace}`;
}

/** The near namespaces that have a service, each with that service. */
export function findNearNamespaces(
  wanted: ServiceName,
  namespaces: Iterable<string>,
  hasService: (namespace: string, service: string) => boolean,
): readonly Near[] {
  const found: Near[] = [];
  for (const namespace of namespaces) {
    const distance = computeDistance(wanted.namespace, namespace);
    if (distance !== undefined && distance > 0 && hasService(namespace, wanted.name))
      found.push({ service: wanted.name, namespace, distance });
  }
  return found.sort((one, other) => one.distance - other.distance).slice(0, MAX_NEAR);
}

/** Undefined: the words are too different. */
function computeDistance(word: string, other: string): number | undefined {
  if (word === other) return 0;
  const max = maxChanges(word);
  if (Math.abs(word.length - other.length) > max) return undefined;
  const changes = countChanges(word, other, max);
  return changes <= max ? changes : undefined;
}
