/**
 * The containers and the rules of our own manifests: what is tested is what is deployed.
 */
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { readKustomization, readManifest } from '../../src/roles/manifests/layout-files.ts';
import { type Account, readRules } from '../api-server/rbac.ts';

export interface Container {
  readonly name: string;
  /** The program's words, the command included. */
  readonly words: readonly string[];
}

interface Deployment {
  readonly kind: string;
  readonly spec: { readonly template: { readonly spec: { readonly containers: readonly PodContainer[] } } };
}

interface PodContainer {
  readonly name: string;
  readonly command?: readonly string[];
  readonly args: readonly string[];
}

interface Component {
  readonly patches?: readonly { readonly patch: string }[];
}

export type LayoutFolder = 'kube-dns' | 'portolan';

export function readContainer(folder: LayoutFolder, name: string): Container {
  // Manifests of our own, whose schemas are checked elsewhere.
  const documents = readKustomization(join('deploy', folder)).flatMap(({ text }) =>
    parseAllDocuments(text).map((document) => document.toJS() as Deployment | null),
  );
  const deployment = documents.find((document) => document?.kind === 'Deployment');
  const found = deployment?.spec.template.spec.containers.find((container) => container.name === name);
  if (found === undefined) throw new Error(`no such container: ${folder}/${name}`);
  // A link at the root of the image is the command of the same name.
  const command = (found.command ?? []).map((path) => path.replace(/^\//, ''));
  return { name, words: [...command, ...found.args] };
}

const ACCOUNT: Account = { namespace: 'kube-system', name: 'kube-dns' };

/** What the pod's account may do. @param components folders of `deploy/components` */
export function readRulesOf(folder: LayoutFolder, components: readonly string[]) {
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
