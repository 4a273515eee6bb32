/**
 * Compares the manifests of a checkout with those that Portolan's images are started by.
 */
import { parseAllDocuments } from 'yaml';
import { findPodSpec, type OriginalContainer, readOriginal } from '../original.ts';
import type { Checkout } from './checkout.ts';
import type { Difference } from './difference.ts';

interface FollowedManifest {
  readonly path: string;
  /** The file in `manifests/`. */
  readonly ours: string;
}

const ADDONS = 'cluster/addons';

/** By the flag that names the checkout. */
export const FOLLOWED: ReadonlyMap<string, readonly FollowedManifest[]> = new Map([
  [
    'kubernetes',
    [
      { path: `${ADDONS}/dns/coredns/coredns.yaml.base`, ours: 'addon-coredns' },
      { path: `${ADDONS}/dns/kube-dns/kube-dns.yaml.base`, ours: 'addon-kube-dns' },
      { path: `${ADDONS}/dns/nodelocaldns/nodelocaldns.yaml`, ours: 'addon-nodelocaldns' },
      {
        path: `${ADDONS}/dns-horizontal-autoscaler/dns-horizontal-autoscaler.yaml`,
        ours: 'dns-horizontal-autoscaler',
      },
      { path: 'cmd/kubeadm/app/phases/addons/dns/manifests.go', ours: 'kubeadm-coredns' },
    ],
  ],
  ['coredns-deployment', [{ path: 'kubernetes/coredns.yaml.sed', ours: 'coredns-deployment' }]],
  ['k3s', [{ path: 'manifests/coredns.yaml', ours: 'k3s-coredns' }]],
]);

/** The values of variables, in the forms of these templates, as in our files. */
const FILLED_IN: readonly (readonly [pattern: RegExp, value: string])[] = [
  [/__(?:PILLAR__)?DNS__MEMORY__LIMIT__/g, '170Mi'],
  [/__(?:PILLAR__)?DNS__DOMAIN__|%\{CLUSTER_DOMAIN\}%|CLUSTER_DOMAIN/g, 'cluster.local'],
  [/__PILLAR__LOCAL__DNS__/g, '169.254.20.10'],
  [/__(?:PILLAR__)?DNS__SERVER__|%\{CLUSTER_DNS\}%|CLUSTER_DNS_IP/g, '10.96.0.10'],
  [/\{\{\.Target\}\}/g, 'Deployment/coredns'],
  [/%\{SYSTEM_DEFAULT_REGISTRY\}%/g, ''],
  [/\{\{ ?\.[A-Za-z]+ ?\}\}/g, '1'],
];

/** What decides whether another image starts in the place of a container. */
const FIELDS = [
  'command',
  'args',
  'env',
  'limits',
  'ports',
  'probes',
  'securityContext',
  'volumeMounts',
] as const;

export function compareManifests(flag: string, checkout: Checkout): readonly Difference[] {
  return (FOLLOWED.get(flag) ?? []).flatMap(({ path, ours }) => {
    const theirs = containersIn(checkout.read(path));
    const known = readOriginal(ours).spec.containers;
    return known.flatMap((container) => {
      const original = theirs.find(({ name }) => name === container.name);
      if (original === undefined) return [makeDifference(ours, container.name, 'the container is gone', '')];
      return FIELDS.flatMap((field) => {
        const now = formatField(original, field);
        const then = formatField(container, field);
        return now === then ? [] : [makeDifference(ours, `${container.name}.${field}`, now, then)];
      });
    });
  });
}

const makeDifference = (original: string, name: string, now: string, then: string): Difference => ({
  original,
  subject: 'manifest',
  name,
  text: `${name} is now ${now}${then === '' ? '' : `, was ${then}`}`,
});

/** @param text a manifest, a template of one, or Go with templates as texts */
function containersIn(text: string): readonly OriginalContainer[] {
  const filled = FILLED_IN.reduce((all, [pattern, value]) => all.replace(pattern, value), text);
  const manifests = /^package /m.test(filled)
    ? [...filled.matchAll(/= `\n([^`]*)`/g)].map(([, manifest = '']) => manifest)
    : [filled];
  const [workload] = manifests
    .filter((manifest) => manifest.includes('containers:'))
    .flatMap((manifest) => parseAllDocuments(manifest).map((document): unknown => document.toJS()))
    .flatMap((object) => findPodSpec(object) ?? []);
  return workload?.containers ?? [];
}

function formatField(container: OriginalContainer, field: (typeof FIELDS)[number]): string {
  switch (field) {
    case 'limits':
      return normalise(container.resources?.limits ?? {});
    case 'probes':
      return normalise(
        [container.livenessProbe, container.readinessProbe].map((probe) => reduceProbe(probe)),
      );
    default:
      return normalise(container[field] ?? []);
  }
}

function reduceProbe(probe: OriginalContainer['livenessProbe']): object | null {
  if (probe === undefined) return null;
  const { host, path, port } = probe.httpGet;
  return { host, path, port };
}

/** With the keys of objects in order, and `false` as if it were absent. */
function normalise(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (part === false) return undefined;
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });
}
