/**
 * The objects that the autoscaler reads and changes, as users of Kubernetes write them: nodes, and objects with replicas.
 */
import type { KubernetesObject } from '../api-server/object-store.ts';
import { makeNode, type NodeGroup } from '../autoscaler/nodes.ts';

/** All kinds that have replicas. A Pool is a custom resource. */
export const SCALABLE_KINDS = [
  'Deployment',
  'ReplicaSet',
  'StatefulSet',
  'ReplicationController',
  'Pool',
] as const;

export type ScalableKind = (typeof SCALABLE_KINDS)[number];

/** The label of the nodes that one test counts, whatever other nodes there are. */
export const NODE_LABEL = 'portolan-test';

export function nodeObject(
  name: string,
  owner: string,
  group: Omit<NodeGroup, 'count' | 'labels'> = { cpu: '4', ready: 'True' },
): KubernetesObject {
  return { ...makeNode(name, { ...group, labels: { [NODE_LABEL]: owner } }), apiVersion: 'v1' };
}

/** With one replica, whose pods run nowhere. @param poolGroup the group of the custom resource */
export function scalableObject(
  kind: ScalableKind,
  namespace: string,
  name: string,
  poolGroup: string,
): KubernetesObject {
  const labels = { app: name };
  const containers = [{ name: 'none', image: 'none.invalid/none' }];
  const podSpec = { schedulerName: 'portolan-test-nobody', containers };
  const template = { metadata: { labels }, spec: podSpec };
  const metadata = { name, namespace };
  switch (kind) {
    case 'Pool':
      return { kind, apiVersion: `${poolGroup}/v1`, metadata, spec: { replicas: 1 } };
    case 'ReplicationController':
      return { kind, apiVersion: 'v1', metadata, spec: { replicas: 1, selector: labels, template } };
    case 'StatefulSet': {
      const spec = { replicas: 1, serviceName: name, selector: { matchLabels: labels }, template };
      return { kind, apiVersion: 'apps/v1', metadata, spec };
    }
    default: {
      const spec = { replicas: 1, selector: { matchLabels: labels }, template };
      return { kind, apiVersion: 'apps/v1', metadata, spec };
    }
  }
}

/** Tells a real API server of the custom resource. */
export function poolDefinition(group: string): KubernetesObject {
  const field = (type: string) => ({ type: 'object', properties: { replicas: { type } } });
  const schema = {
    openAPIV3Schema: { type: 'object', properties: { spec: field('integer'), status: field('integer') } },
  };
  const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
  return {
    kind: 'CustomResourceDefinition',
    apiVersion: 'apiextensions.k8s.io/v1',
    metadata: { name: `pools.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind: 'Pool', plural: 'pools', singular: 'pool' },
      versions: [{ name: 'v1', served: true, storage: true, schema, subresources: { status: {}, scale } }],
    },
  };
}
