/**
 * The DNS programs of a cluster that Portolan replaces, and how their manifests name things.
 */

export const ORIGINALS = ['coredns', 'kube-dns', 'node-cache'] as const;
export type OriginalName = (typeof ORIGINALS)[number];

/** A container of the original, and Portolan's image target with its entry point. */
export interface OriginalContainer {
  readonly name: string;
  /** The target of the Dockerfile, which is also the end of the image's name: `portolan-coredns`. */
  readonly target: 'coredns' | 'kube-dns' | 'dnsmasq-nanny' | 'sidecar' | 'node-cache';
  /** Whether it has to open port 53. */
  readonly opensPort53: boolean;
}

export interface Original {
  readonly name: OriginalName;
  readonly kind: 'Deployment' | 'DaemonSet';
  /** Of the Deployment or DaemonSet, unless a flag gives another. */
  readonly workload: string;
  /** Those that are replaced; the pod may have others. */
  readonly containers: readonly OriginalContainer[];
  /** The Service whose address clients use. */
  readonly service: string;
}

const TABLE: Readonly<Record<OriginalName, Omit<Original, 'name'>>> = {
  coredns: {
    kind: 'Deployment',
    workload: 'coredns',
    containers: [{ name: 'coredns', target: 'coredns', opensPort53: true }],
    service: 'kube-dns',
  },
  'kube-dns': {
    kind: 'Deployment',
    workload: 'kube-dns',
    containers: [
      { name: 'kubedns', target: 'kube-dns', opensPort53: false },
      { name: 'dnsmasq', target: 'dnsmasq-nanny', opensPort53: true },
      { name: 'sidecar', target: 'sidecar', opensPort53: false },
    ],
    service: 'kube-dns',
  },
  'node-cache': {
    kind: 'DaemonSet',
    workload: 'node-local-dns',
    containers: [{ name: 'node-cache', target: 'node-cache', opensPort53: true }],
    service: 'kube-dns-upstream',
  },
};

export function getOriginal(name: OriginalName): Original {
  return { name, ...TABLE[name] };
}
