/**
 * The change of `ndots` as a patch of a workload's pod template.
 */
import type { DnsOption, Workload } from './workloads.ts';

export interface NdotsPatch {
  /** For the spec of a pod: the options that it has, with the new value. */
  readonly dnsConfig: { readonly options: readonly DnsOption[] };
  /** Undefined: the pods of this kind cannot be changed by a patch that is known. */
  readonly kubectl: string | undefined;
  /** An item of `patches` in a kustomization. Undefined as above. */
  readonly kustomize: KustomizePatch | undefined;
}

export interface KustomizePatch {
  readonly target: {
    readonly group?: string;
    readonly version: string;
    readonly kind: string;
    readonly namespace: string;
    readonly name: string;
  };
  /** A JSON text, which is YAML too. */
  readonly patch: string;
}

interface Template {
  readonly group?: string;
  readonly version: string;
  /** Of the spec of its pods. */
  readonly path: readonly string[];
}

const POD_TEMPLATE = ['spec', 'template', 'spec'];
const APPS: Template = { group: 'apps', version: 'v1', path: POD_TEMPLATE };
/** Kinds whose pod template may change. */
const TEMPLATES: ReadonlyMap<string, Template> = new Map([
  ['Deployment', APPS],
  ['StatefulSet', APPS],
  ['DaemonSet', APPS],
  ['ReplicaSet', APPS],
  ['ReplicationController', { version: 'v1', path: POD_TEMPLATE }],
  ['CronJob', { group: 'batch', version: 'v1', path: ['spec', 'jobTemplate', ...POD_TEMPLATE] }],
]);

export function makePatch({ kind, namespace, name, options }: Workload, ndots: number): NdotsPatch {
  // A patch replaces all options.
  const kept = options.filter((option) => option.name !== 'ndots');
  const dnsConfig = { options: [...kept, { name: 'ndots', value: String(ndots) }] };
  const template = TEMPLATES.get(kind);
  if (template === undefined || namespace === undefined)
    return { dnsConfig, kubectl: undefined, kustomize: undefined };
  const { path, ...resource } = template;
  const change = path.reduceRight<object>((inner, field) => ({ [field]: inner }), { dnsConfig });
  const { group, version } = resource;
  const apiVersion = group === undefined ? version : `${group}/${version}`;
  const whole = { apiVersion, kind, metadata: { name, namespace }, ...change };
  return {
    dnsConfig,
    kubectl: `kubectl -n ${quote(namespace)} patch ${kind.toLowerCase()} ${quote(name)} -p ${quote(JSON.stringify(change))}`,
    kustomize: { target: { ...resource, kind, namespace, name }, patch: JSON.stringify(whole) },
  };
}

/** As one word of a shell. */
function quote(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
