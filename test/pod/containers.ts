/**
 * The containers and the RBAC rules of our own manifests, so that tests use what is deployed.
 */
import { join } from 'node:path';
import { readKustomization, readManifest } from '@portolan/ops/manifests/layout-files.ts';
import { parse, parseAllDocuments } from 'yaml';
import { type Account, readRules } from '../api-server/rbac.ts';

interface Deployment {
  readonly kind: string;
  readonly spec: { readonly template: { readonly spec: { readonly containers: readonly Container[] } } };
}

interface Container {
  readonly name: string;
  readonly command?: readonly string[];
  readonly args: readonly string[];
  readonly livenessProbe?: ContainerProbe;
  readonly readinessProbe?: ContainerProbe;
}

interface ContainerProbe {
  readonly httpGet: { readonly path: string; readonly port: number };
}

interface Component {
  readonly patches?: readonly { readonly patch: string }[];
}

export type LayoutFolder = 'kube-dns' | 'portolan';

function readContainers(folder: LayoutFolder): readonly Container[] {
  // Manifests of our own, whose schemas are checked elsewhere.
  const documents = readKustomization(join('deploy', folder)).flatMap(({ text }) =>
    parseAllDocuments(text).map((document) => document.toJS() as Deployment | null),
  );
  const deployment = documents.find((document) => document?.kind === 'Deployment');
  return deployment?.spec.template.spec.containers ?? [];
}

/** The words that a container gives the program, the command included. */
export function readWords(folder: LayoutFolder, name: string): readonly string[] {
  const found = readContainers(folder).find((container) => container.name === name);
  if (found === undefined) throw new Error(`no such container: ${folder}/${name}`);
  // A link at the root of the image is the command of the same name.
  const command = (found.command ?? []).map((path) => path.replace(/^\//, ''));
  return [...command, ...found.args];
}

/** All probes of a pod, by names such as `kubedns liveness`. */
export function readProbes(
  folder: LayoutFolder,
): readonly { readonly name: string; readonly path: string; readonly port: number }[] {
  return readContainers(folder).flatMap(({ name, livenessProbe, readinessProbe }) => {
    const probes = { liveness: livenessProbe, readiness: readinessProbe };
    return Object.entries(probes).flatMap(([kind, probe]) =>
      probe === undefined ? [] : [{ name: `${name} ${kind}`, ...probe.httpGet }],
    );
  });
}

const ACCOUNT: Account = { namespace: 'kube-system', name: 'kube-dns' };

/** What the pod's account may do. @param components folders of `deploy/components` */
export function readAccountRules(folder: LayoutFolder, components: readonly string[]) {
  const folders = [folder, ...components.map((component) => join('components', component))];
  const texts = folders.flatMap((each) => readKustomization(join('deploy', each)).map(({ text }) => text));
  return readRules(texts, ACCOUNT);
}

/** The arguments that a component adds to the first container. */
export function readAddedWords(component: string): readonly string[] {
  const { text } = readManifest(join('deploy', 'components', component, 'kustomization.yaml'));
  const { patches = [] } = parse(text) as Component;
  return patches.flatMap(({ patch }) => {
    const steps = parse(patch) as readonly {
      readonly op: string;
      readonly path: string;
      readonly value: string;
    }[];
    return steps
      .filter(({ op, path }) => op === 'add' && path === '/spec/template/spec/containers/0/args/-')
      .map(({ value }) => value);
  });
}
