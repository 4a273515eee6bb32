/**
 * The manifests of the originals: what the kubelet takes from them to start a pod.
 */
import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import type { KubernetesObject } from '../api-server/object-store.ts';

interface HttpProbe {
  readonly httpGet: { readonly host?: string; readonly path: string; readonly port: number | string };
}

export interface OriginalContainer {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  readonly resources?: { readonly limits?: { readonly cpu?: string; readonly memory?: string } };
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
  readonly livenessProbe?: HttpProbe;
  readonly readinessProbe?: HttpProbe;
  readonly securityContext?: {
    readonly allowPrivilegeEscalation?: boolean;
    readonly readOnlyRootFilesystem?: boolean;
    readonly runAsUser?: number;
    readonly runAsGroup?: number;
    readonly capabilities?: { readonly add?: readonly string[]; readonly drop?: readonly string[] };
  };
  readonly volumeMounts?: readonly {
    readonly name: string;
    readonly mountPath: string;
    readonly readOnly?: boolean;
  }[];
}

export interface OriginalVolume {
  readonly name: string;
  readonly configMap?: {
    readonly name: string;
    readonly items?: readonly { readonly key: string; readonly path: string }[];
  };
  readonly hostPath?: { readonly path: string };
  readonly emptyDir?: object;
}

export interface OriginalPodSpec {
  readonly hostNetwork?: boolean;
  readonly securityContext?: {
    readonly runAsUser?: number;
    readonly runAsGroup?: number;
    readonly supplementalGroups?: readonly number[];
    readonly sysctls?: readonly { readonly name: string; readonly value: string }[];
  };
  readonly containers: readonly OriginalContainer[];
  readonly volumes?: readonly OriginalVolume[];
}

export interface OriginalManifest {
  readonly spec: OriginalPodSpec;
  /** By name. */
  readonly configMaps: ReadonlyMap<string, Readonly<Record<string, string>>>;
  /** Addresses by name, which the kubelet puts into the environment. */
  readonly services: ReadonlyMap<string, string>;
  /** Where the manifest comes from, in the words of its first lines. */
  readonly source: string;
}

const FOLDER = 'test/originals/manifests';
/** Images of the originals and of our own manifests, by the end of their name, and the targets that replace them. */
const TARGETS: readonly (readonly [pattern: RegExp, target: string])[] = [
  [/^portolan$/, 'portolan'],
  [/^portolan-node-cache$/, 'node-cache'],
  [/coredns$/, 'coredns'],
  [/kube-dnsmasq-amd64$/, 'dnsmasq'],
  [/k8s-dns-kube-dns$/, 'kube-dns'],
  [/k8s-dns-dnsmasq-nanny$/, 'dnsmasq-nanny'],
  [/k8s-dns-sidecar$/, 'sidecar'],
  [/k8s-dns-node-cache$/, 'node-cache'],
  [/cluster-proportional-autoscaler$/, 'cluster-proportional-autoscaler'],
  [/kube2sky-amd64$/, 'kube2sky'],
  [/skydns$/, 'skydns'],
  [/exechealthz$/, 'exechealthz'],
];

/** @param name of the file, without its ending */
export function readOriginal(name: string): OriginalManifest {
  const text = readFileSync(`${FOLDER}/${name}.yaml`, 'utf8');
  const objects = parseAllDocuments(text).map((document) => document.toJS() as KubernetesObject);
  return toManifest(objects, /^# Source: (.*)$/m.exec(text)?.[1] ?? '');
}

/** @param source where the objects come from @throws Error without a pod among them */
export function toManifest(objects: readonly KubernetesObject[], source: string): OriginalManifest {
  const ofKind = (kind: string) => objects.filter((object) => object.kind === kind);
  const workload = objects.find((object) => findPodSpec(object) !== undefined);
  const spec = workload && findPodSpec(workload);
  if (spec === undefined) throw new Error(`no pod in: ${source}`);
  return {
    spec,
    // Our own files have these fields.
    configMaps: new Map(
      ofKind('ConfigMap').map((object) => [object.metadata.name, object['data'] as Record<string, string>]),
    ),
    services: new Map(
      ofKind('Service').map((object) => [
        object.metadata.name,
        (object['spec'] as { clusterIP: string }).clusterIP,
      ]),
    ),
    source,
  };
}

/** Of a workload, as parsed. */
export function findPodSpec(object: unknown): OriginalPodSpec | undefined {
  const { spec } = (object ?? {}) as { spec?: { template?: { spec?: OriginalPodSpec } } };
  return spec?.template?.spec;
}

/** The target of the Dockerfile that replaces the image of a container; `undefined` for images that stay. */
export function findImageTarget({ image }: OriginalContainer): string | undefined {
  const name = image.replace(/:[^/:]*$/, '');
  return TARGETS.find(([pattern]) => pattern.test(name))?.[1];
}
