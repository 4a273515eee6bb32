/**
 * Finds the Corefiles in folders: files of that name or ending, and ConfigMaps in manifests.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DISK_FILES } from '@portolan/corefile/syntax/corefile-files.ts';
import { mountedFiles } from '@portolan/frontends/coredns/settings/mounted-files.ts';
import type { SurveyedSource } from '@portolan/frontends/coredns/settings/survey.ts';
import { asRecord, toTextMap } from '@portolan/kubernetes/objects/trim/fields.ts';
import { parseYaml } from '@portolan/kubernetes/yaml/parse-yaml.ts';

/** `Corefile`, `Corefile.base`, `east.Corefile`. */
const COREFILE = /^corefile(?:\.[\w-]+)?$|\.corefile$/i;
const MANIFEST = /\.(?:ya?ml|json)$/i;
/** Where manifests mount the ConfigMap of CoreDNS, and that of further files. */
const FOLDER = '/etc/coredns';
const CUSTOM_FOLDER = `${FOLDER}/custom`;
const SKIPPED = ['node_modules', '.git'];

export interface FoundSources {
  readonly sources: readonly SurveyedSource[];
  /** Manifests that cannot be read: `PATH: REASON`. */
  readonly faults: readonly string[];
}

interface ConfigMap {
  /** The manifest that holds it. */
  readonly path: string;
  readonly name: string;
  readonly label: string;
  readonly data: ReadonlyMap<string, string>;
}

/** @param paths folders and files @throws Error with Node's `code` for a path that cannot be read */
export function findSources(paths: readonly string[]): FoundSources {
  const files = [...new Set(paths.flatMap(listFiles))];
  const faults: string[] = [];
  const isCorefile = (path: string): boolean =>
    COREFILE.test(basename(path)) || (paths.includes(path) && !MANIFEST.test(path));
  const written = files
    .filter(isCorefile)
    .map((path) => ({ label: path, file: path, text: readFileSync(path, 'utf8'), files: DISK_FILES }));
  const configMaps = files
    .filter((path) => MANIFEST.test(path) && !isCorefile(path))
    .flatMap((path) => readConfigMaps(path, faults));
  const mounted = configMaps.flatMap((each) => findSource(each, configMaps) ?? []);
  return { sources: [...written, ...mounted].toSorted((a, b) => (a.label < b.label ? -1 : 1)), faults };
}

function listFiles(path: string): readonly string[] {
  if (DISK_FILES.findKind(path) !== 'folder') return [path];
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
    const inner = join(path, entry.name);
    // The kubelet's folders behind the links of a mounted ConfigMap.
    if (entry.name.startsWith('..')) return [];
    if (entry.isDirectory()) return SKIPPED.includes(entry.name) ? [] : listFiles(inner);
    // A mounted ConfigMap has links to its files.
    return entry.isFile() || (entry.isSymbolicLink() && DISK_FILES.findKind(inner) === 'file') ? [inner] : [];
  });
}

function readConfigMaps(path: string, faults: string[]): readonly ConfigMap[] {
  const text = readFileSync(path, 'utf8');
  // Most manifests have none.
  if (!text.includes('ConfigMap')) return [];
  try {
    return parseYaml(text).flatMap((document) => {
      const [error] = document.errors;
      if (error !== undefined) throw error;
      return configMapsIn(document.toJS(), path);
    });
  } catch (error) {
    faults.push(`${path}: ${error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)}`);
    return [];
  }
}

function configMapsIn(value: unknown, path: string): readonly ConfigMap[] {
  const { items, kind, metadata, data } = asRecord(value) ?? {};
  if (Array.isArray(items)) return items.flatMap((item) => configMapsIn(item, path));
  if (kind !== 'ConfigMap' || asRecord(data) === undefined) return [];
  const { name = '', namespace } = asRecord(metadata) ?? {};
  const shown = [namespace, name].filter((part) => part !== undefined).join('/');
  return [{ path, name: String(name), label: `${path}: ConfigMap ${shown}`, data: toTextMap(data) }];
}

/** Undefined: it has no Corefile. */
function findSource(own: ConfigMap, all: readonly ConfigMap[]): SurveyedSource | undefined {
  const text = own.data.get('Corefile');
  if (text === undefined) return undefined;
  const custom = all.filter(
    ({ name, path }) => name === `${own.name}-custom` && dirname(path) === dirname(own.path),
  );
  const texts = new Map([
    ...[...own.data].map(([key, value]) => [`${FOLDER}/${key}`, value] as const),
    ...custom.flatMap(({ data }) =>
      [...data].map(([key, value]) => [`${CUSTOM_FOLDER}/${key}`, value] as const),
    ),
  ]);
  return {
    label: own.label,
    file: `${FOLDER}/Corefile`,
    text,
    files: mountedFiles(texts, [FOLDER, CUSTOM_FOLDER]),
  };
}
