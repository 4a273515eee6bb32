/**
 * Nodes as in the recording: groups of equal nodes.
 */
import type { KubernetesObject } from '../api-server/object-store.ts';

export interface NodeGroup {
  readonly count: number;
  /** Allocatable; left out, the node does not say. */
  readonly cpu?: string;
  /** Of the condition Ready; `none`: there is no such condition. */
  readonly ready: string;
  readonly unschedulable?: boolean;
  /** A taint that keeps pods away. */
  readonly taint?: boolean;
  readonly capacityCpu?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

type NodeManifest = KubernetesObject & {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
};

export function makeNodes(groups: readonly NodeGroup[]): readonly NodeManifest[] {
  return groups.flatMap((group, at) =>
    Array.from({ length: group.count }, (_none, number) => makeNode(`node-${at}-${number}`, group)),
  );
}

export function makeNode(
  name: string,
  { cpu, ready, unschedulable, taint, capacityCpu, labels = {} }: Omit<NodeGroup, 'count'>,
): NodeManifest {
  return {
    kind: 'Node',
    metadata: { name, labels },
    spec: {
      ...(unschedulable === undefined ? {} : { unschedulable }),
      ...(taint === true ? { taints: [{ key: 'dedicated', effect: 'NoSchedule' }] } : {}),
    },
    status: {
      capacity: { cpu: capacityCpu ?? cpu ?? '4' },
      allocatable: cpu === undefined ? { memory: '8Gi' } : { cpu },
      conditions: [
        { type: 'DiskPressure', status: 'False' },
        ...(ready === 'none' ? [] : [{ type: 'Ready', status: ready }]),
      ],
    },
  };
}
