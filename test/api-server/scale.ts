/**
 * The scale subresource: `spec.replicas` of an object of any kind, as `autoscaling/v1` Scale.
 */
import type { KubernetesObject, StoredObject } from './object-store.ts';

export function describeScale({ name, namespace, version, object }: StoredObject): string {
  const replicas = readReplicas(object);
  return JSON.stringify({
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, resourceVersion: String(version) },
    // What is 0 is left out, as in Go.
    spec: replicas === 0 ? {} : { replicas },
    status: { replicas: 0, selector: `a=${name}` },
  });
}

export function readReplicas(object: KubernetesObject): number {
  return Number((object['spec'] as { readonly replicas?: number } | undefined)?.replicas ?? 0);
}

/** The object with the replicas of a Scale. */
export function applyScale(
  object: KubernetesObject,
  scale: Readonly<Record<string, unknown>>,
): KubernetesObject {
  const spec = object['spec'] as Readonly<Record<string, unknown>> | undefined;
  const { replicas = 0 } = (scale['spec'] ?? {}) as { readonly replicas?: number };
  return { ...object, spec: { ...spec, replicas } };
}
