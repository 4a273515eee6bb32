/**
 * The originals that Portolan's images are started in place of, and what is asked of each.
 */

/** A question, and what `dig +short` prints for it. */
export type Question = readonly [name: string, answer: string];

export interface OriginalCase {
  /** Of the result, and in the names of tests. */
  readonly id: string;
  readonly title: string;
  /** The file in `manifests/`. */
  readonly manifest: string;
  readonly asks: readonly Question[];
  /** Services of the cluster, besides `kubernetes`. */
  readonly services?: number;
  /** Memory limits instead of those of the manifest, by container. */
  readonly memory?: Readonly<Record<string, string>>;
  /** Replicas that the autoscaler must set. */
  readonly replicas?: number;
  /** Of the page: what users must know. */
  readonly note?: string;
}

const OUTSIDE: Question = ['outside.example.', '192.0.2.53'];
const KUBERNETES: Question = ['kubernetes.default.svc.cluster.local.', '10.96.0.1'];
const SMALL = [KUBERNETES, OUTSIDE];
/** The last of 10,000 generated services. */
const LARGE: readonly Question[] = [...SMALL, ['svc-9999.ns-9.svc.cluster.local.', '10.96.39.16']];
const LARGE_CLUSTER = 10_000;
/** The cluster's DNS is one that gives every name this address. */
const THROUGH_CACHE: readonly Question[] = [['kubernetes.default.svc.cluster.local.', '192.0.2.53'], OUTSIDE];

export const ORIGINALS: readonly OriginalCase[] = [
  { id: 'kubeadm', title: 'CoreDNS of kubeadm', manifest: 'kubeadm-coredns', asks: SMALL },
  {
    id: 'kubeadm-large',
    title: 'CoreDNS of kubeadm, 10,000 services',
    manifest: 'kubeadm-coredns',
    asks: LARGE,
    services: LARGE_CLUSTER,
  },
  { id: 'addon-coredns', title: 'CoreDNS of the addons', manifest: 'addon-coredns', asks: SMALL },
  {
    id: 'coredns-deployment',
    title: 'CoreDNS of coredns/deployment',
    manifest: 'coredns-deployment',
    asks: SMALL,
  },
  { id: 'eks', title: 'CoreDNS of EKS', manifest: 'eks-coredns', asks: SMALL },
  {
    id: 'k3s',
    title: 'CoreDNS of k3s',
    manifest: 'k3s-coredns',
    asks: [...SMALL, ['node-1.', '10.0.0.7']],
  },
  { id: 'kops', title: 'CoreDNS of kops', manifest: 'kops-coredns', asks: SMALL },
  { id: 'kube-dns', title: 'kube-dns of the addons', manifest: 'addon-kube-dns', asks: SMALL },
  {
    id: 'kube-dns-large',
    title: 'kube-dns of the addons, 10,000 services',
    manifest: 'addon-kube-dns',
    asks: LARGE,
    services: LARGE_CLUSTER,
  },
  {
    id: 'nodelocaldns',
    title: 'NodeLocal DNSCache of the addons',
    manifest: 'addon-nodelocaldns',
    asks: THROUGH_CACHE,
  },
  {
    id: 'nodelocaldns-64Mi',
    title: 'NodeLocal DNSCache of the addons, with a limit of 64Mi',
    manifest: 'addon-nodelocaldns',
    asks: THROUGH_CACHE,
    memory: { 'node-cache': '64Mi' },
  },
  {
    id: 'node-local-dns',
    title: 'NodeLocal DNSCache of its own repository',
    manifest: 'node-local-dns',
    asks: THROUGH_CACHE,
  },
  {
    id: 'autoscaler',
    title: 'dns-horizontal-autoscaler of the addons',
    manifest: 'dns-horizontal-autoscaler',
    asks: [],
    replicas: 2,
  },
  {
    id: 'skydns',
    title: 'SkyDNS of Kubernetes 1.2',
    manifest: 'addon-skydns',
    asks: SMALL,
    note: "`etcd` is Debian's",
  },
];
