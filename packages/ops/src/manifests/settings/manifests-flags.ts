/**
 * The flags of `portolan manifests`: the parts of the shipped manifests that differ between clusters.
 */
import { isDns1123Label } from '@portolan/kubernetes/names/name-rules.ts';
import type { Flag, FlagsOf } from '@portolan/server/settings/flags/flag.ts';
import { faultOfImageName } from '@portolan/server/settings/values/image-name.ts';
import type { Checked } from '@portolan/server/settings/values/problem.ts';
import { ValueReader } from '@portolan/server/settings/values/value-reader.ts';

/** The folder in `deploy/` of each layout. */
export const LAYOUT_FOLDERS = {
  one: 'deploy/portolan',
  three: 'deploy/kube-dns',
  coredns: 'deploy/coredns',
  'node-local': 'deploy/node-local',
  'node-local-ipvs': 'deploy/node-local-ipvs',
  'node-local-init': 'deploy/node-local-init',
  'node-local-cilium': 'deploy/node-local-cilium',
  'node-local-service': 'deploy/node-local-service',
  autoscaler: 'deploy/autoscaler',
  skydns: 'deploy/skydns',
} as const;
export type Layout = keyof typeof LAYOUT_FOLDERS;

const LAYOUTS = [
  'one',
  'three',
  'coredns',
  'node-local',
  'node-local-ipvs',
  'node-local-init',
  'node-local-cilium',
  'node-local-service',
  'autoscaler',
  'skydns',
] as const satisfies readonly Layout[];

/** The program whose names, labels, ports and probes the manifests keep. */
const MODELS = ['kube-dns', 'coredns'] as const;
type Model = (typeof MODELS)[number];

/** The models that a layout supports; other layouts have none. */
const MODELS_OF: Partial<Readonly<Record<Layout, readonly Model[]>>> = {
  one: ['kube-dns'],
  three: ['kube-dns'],
  coredns: ['coredns'],
  autoscaler: MODELS,
};

export const DEFAULT_DNS_SERVER = '10.96.0.10';
export const DEFAULT_DOMAIN = 'cluster.local';

const REPLICAS = { min: 1, max: 1000, of: 'a number of pods' } as const;

export const MANIFESTS_FLAGS = [
  {
    name: 'dns-server-ip',
    valueName: 'ip',
    value: { kind: 'text', of: 'an IP address' },
    default: DEFAULT_DNS_SERVER,
    help: 'address of the Service, clusterDNS of the kubelets',
  },
  {
    name: 'domain',
    valueName: 'name',
    value: { kind: 'text', of: 'a domain name' },
    default: DEFAULT_DOMAIN,
    help: 'zone of the cluster, clusterDomain of the kubelets',
  },
  {
    name: 'image',
    valueName: 'name',
    value: { kind: 'text', of: 'an image' },
    defaultNote: 'none; without a value the one that `portolan image` makes',
    help: 'image with its tag or digest, which the nodes can pull; latest is refused',
  },
  {
    name: 'layout',
    valueName: 'layout',
    value: { kind: 'choice', choices: LAYOUTS },
    defaultNote: 'one; coredns with --like=coredns',
    help: 'the DNS of a cluster in one container, or in three as in kube-dns, or as CoreDNS, or as SkyDNS; a cache on every node; or what scales DNS',
  },
  {
    name: 'like',
    valueName: 'program',
    value: { kind: 'choice', choices: MODELS },
    default: 'kube-dns',
    help: 'program whose names, labels, ports and probes are kept; with --layout=autoscaler the Deployment that is scaled',
  },
  {
    name: 'replicas',
    valueName: 'number',
    value: { kind: 'integer', ...REPLICAS },
    defaultNote: 'left out',
    help: 'number of pods; if it is left out, an apply keeps the present one, unless an earlier apply has set it',
  },
  {
    name: 'with-config-map',
    value: 'none',
    help: 'also print the ConfigMap with the default Corefile; an apply replaces the one that the cluster has',
  },
] as const satisfies readonly Flag[];

export type ManifestsFlags = FlagsOf<typeof MANIFESTS_FLAGS>;

export interface ManifestsPlan {
  /** The address of the Service that kubelets give to pods as `clusterDNS`, in canonical form. */
  readonly dnsServer: string;
  /** The cluster domain, in lower case without a final dot. */
  readonly domain: string;
  /** An image reference with a tag or a digest. */
  readonly image: string;
  readonly layout: Layout;
  /** The Deployment that the autoscaler scales. */
  readonly scaled: Model;
  /** Pods of the Deployment; undefined: the manifest does not say. */
  readonly replicas: number | undefined;
  /** Whether the ConfigMap with the Corefile is printed, which has the name of the one of the original. */
  readonly withConfigMap: boolean;
}

/** Layouts with one Deployment that may have several pods. */
const SCALABLE: readonly Layout[] = ['one', 'three', 'coredns'];

/** The maximum length of the domain: longer ones leave too few of the 255 octets for services and namespaces. */
const MAX_CHARACTERS = 120;

/**
 * Validates all flags. All problems are reported, not only the first.
 *
 * @param version of this program, the tag of the default image
 */
export function planFromManifestsFlags(flags: ManifestsFlags, version: string): Checked<ManifestsPlan> {
  const read = new ValueReader();
  const model = read.choice('--like', flags.like, MODELS, 'kube-dns');
  const plan: ManifestsPlan = {
    dnsServer: read.address('--dns-server-ip', flags.dnsServerIp ?? DEFAULT_DNS_SERVER) ?? DEFAULT_DNS_SERVER,
    domain: readDomain(read, flags.domain ?? DEFAULT_DOMAIN),
    image: readImage(read, flags.image, version),
    layout: read.choice('--layout', flags.layout, LAYOUTS, model === 'coredns' ? 'coredns' : 'one'),
    scaled: model,
    replicas: read.integer('--replicas', flags.replicas, REPLICAS, undefined),
    withConfigMap: flags.withConfigMap === true,
  };
  if (plan.replicas !== undefined && !SCALABLE.includes(plan.layout))
    read.addProblem('--replicas', `not for --layout=${plan.layout}`, flags.replicas, 'Leave it out.');
  if (flags.like !== undefined && MODELS_OF[plan.layout]?.includes(model) !== true)
    read.addProblem('--like', `not for --layout=${plan.layout}`, model, 'Leave out one of the two flags.');
  const { problems } = read;
  return problems.length === 0 ? { kind: 'good', value: plan } : { kind: 'bad', problems };
}

function readDomain(read: ValueReader, text: string): string {
  const domain = text.toLowerCase().replace(/\.$/, '');
  // Rejects characters that are special in arguments.
  if (domain.length > MAX_CHARACTERS || !domain.split('.').every(isDns1123Label))
    read.addProblem(
      '--domain',
      'not the domain of a cluster',
      text,
      `Give letters, digits and dashes between dots, at most ${MAX_CHARACTERS} characters, as in cluster.local.`,
    );
  return domain;
}

/** @param text given without a value, the image that `portolan image` makes is meant */
function readImage(read: ValueReader, text: string | undefined, version: string): string {
  const assumed = `portolan:${version}`;
  const remedy = 'Give a repository and a version, as in registry.example/portolan:1.0.0.';
  if (text === undefined)
    read.addProblem(
      '--image',
      'not given',
      text,
      `${remedy} --image= stands for ${assumed}, which no registry has.`,
    );
  if (text === undefined || text === '') return assumed;
  // The pod would not show which build an unversioned reference runs.
  const fault = faultOfImageName(text);
  if (fault !== undefined) read.addProblem('--image', fault, text, remedy);
  return text;
}
