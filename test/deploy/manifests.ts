/**
 * The shipped manifests as objects.
 */
import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import type { Layout } from '../../src/config/manifests-flags.ts';
import { readKustomization } from '../../src/roles/manifests/layout-files.ts';

export const FOLDERS: Readonly<Record<Layout, string>> = { one: 'deploy/portolan', three: 'deploy/kube-dns' };

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
/** The image of this version. */
export const IMAGE = `portolan:${version}`;

/** An object of any kind; its schema is checked by a test. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly spec?: unknown;
}

export function parseManifests(text: string): readonly Manifest[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS() as Manifest | null)
    .filter((object) => object !== null);
}

/** The objects of a layout as it is shipped, in the order of its files. */
export function readLayout(layout: Layout): readonly Manifest[] {
  return readKustomization(FOLDERS[layout]).flatMap(({ text }) => parseManifests(text));
}
