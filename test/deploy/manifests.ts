/**
 * The shipped manifests as objects.
 */
import { readFileSync } from 'node:fs';
import { readKustomization } from '@portolan/ops/manifests/layout-files.ts';
import { LAYOUT_FOLDERS, type Layout } from '@portolan/ops/manifests/settings/manifests-flags.ts';
import { parseAllDocuments } from 'yaml';

export const FOLDERS = LAYOUT_FOLDERS;

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
/** The image of this version. */
export const IMAGE = `portolan:${version}`;

/** An object of any kind: what is in it, its schema says, which a test checks. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

export interface DeploymentManifest extends Manifest {
  readonly kind: 'Deployment';
  readonly spec: {
    readonly selector: unknown;
    readonly template: { readonly metadata: Manifest['metadata']; readonly spec: PodSpec };
  };
}

export interface PodSpec {
  readonly containers: readonly Container[];
  readonly terminationGracePeriodSeconds: number;
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args: readonly string[];
  readonly resources: {
    readonly requests: { readonly memory: string };
    readonly limits: { readonly memory: string };
  };
  readonly env?: readonly { readonly name: string; readonly value: string }[];
}

/** The ports of a container that answers DNS. @param metrics the port of its metrics */
export const dnsPorts = (metrics: number): readonly object[] => [
  { name: 'dns', containerPort: 53, protocol: 'UDP' },
  { name: 'dns-tcp', containerPort: 53, protocol: 'TCP' },
  { name: 'metrics', containerPort: metrics, protocol: 'TCP' },
];

export function parseManifests(text: string): readonly Manifest[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS() as Manifest | null)
    .filter((object) => object !== null);
}

/** The objects of a layout as it is shipped, in the order of its files. */
export function readLayout(layout: Layout): readonly Manifest[] {
  return readKustomization(FOLDERS[layout]).flatMap(({ text }) => parseManifests(text));
}

export function readDeployment(layout: Layout): DeploymentManifest {
  const isDeployment = (object: Manifest): object is DeploymentManifest => object.kind === 'Deployment';
  const deployment = readLayout(layout).find(isDeployment);
  if (deployment === undefined) throw new Error(`no Deployment in ${FOLDERS[layout]}`);
  return deployment;
}

export function readContainers(layout: Layout): readonly Container[] {
  return readDeployment(layout).spec.template.spec.containers;
}
