/**
 * Reads kubeconfig files and merges them as kubectl does. Errors name the file and the field.
 */
import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, resolve } from 'node:path';
import { findErrorCode } from '@portolan/kernel/base/system-errors.ts';
import type { Document } from 'yaml';
import { ClusterConfigurationError } from './errors.ts';

type Fields = Readonly<Record<string, unknown>>;

/** One named cluster, user or context: its fields and their location. */
export class KubeconfigEntry {
  readonly file: string;
  readonly name: string;
  readonly #where: string;
  readonly #fields: Fields;

  constructor(file: string, name: string, where: string, fields: Fields) {
    this.file = file;
    this.name = name;
    this.#where = where;
    this.#fields = fields;
  }

  get fields(): Fields {
    return this.#fields;
  }

  /** @throws {ClusterConfigurationError} if it is set and not text; an empty text counts as unset */
  text(field: string): string | undefined {
    const value = this.#fields[field] ?? '';
    if (typeof value !== 'string') throw this.error(field, 'must be text');
    return value === '' ? undefined : value;
  }

  /** @throws {ClusterConfigurationError} */
  flag(field: string): boolean {
    const value = this.#fields[field] ?? false;
    if (typeof value !== 'boolean') throw this.error(field, 'must be true or false');
    return value;
  }

  /** @throws {ClusterConfigurationError} */
  texts(field: string): string[] {
    return this.#list(field, this.#fields[field] ?? []);
  }

  /** @throws {ClusterConfigurationError} */
  textLists(field: string): ReadonlyMap<string, string[]> {
    const value = this.#fields[field] ?? {};
    if (!isFields(value)) throw this.error(field, 'must be a mapping');
    return new Map(Object.entries(value).map(([key, list]) => [key, this.#list(`${field}.${key}`, list)]));
  }

  /** A relative path is relative to the folder of the file. */
  path(field: string): string | undefined {
    const path = this.text(field);
    return path === undefined || isAbsolute(path) ? path : resolve(dirname(this.file), path);
  }

  /** @throws {ClusterConfigurationError} if it is not base64 */
  bytes(field: string): Buffer | undefined {
    const text = this.text(field)?.replace(/\s+/g, '');
    if (text === undefined) return undefined;
    if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) throw this.error(field, 'must be base64');
    return Buffer.from(text, 'base64');
  }

  /** `problem` follows the field's name and must not repeat its value, which may be a secret. */
  error(field: string, problem: string): ClusterConfigurationError {
    const full = `${this.#where}.${field}`;
    const message = `cannot use kubeconfig: ${this.file}: ${full} ${problem}`;
    return new ClusterConfigurationError(message, this.file, full);
  }

  #list(field: string, value: unknown): string[] {
    if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
    throw this.error(field, 'must be a list of texts');
  }
}

export interface Kubeconfig {
  readonly files: readonly string[];
  readonly currentContext: string | undefined;
  readonly clusters: ReadonlyMap<string, KubeconfigEntry>;
  readonly users: ReadonlyMap<string, KubeconfigEntry>;
  readonly contexts: ReadonlyMap<string, KubeconfigEntry>;
}

/**
 * Reads and merges files: the first file that defines a cluster, user, context or current context wins for all its fields.
 * @param mayLack whether to skip files that do not exist
 * @throws {ClusterConfigurationError}
 */
export async function readKubeconfigs(paths: readonly string[], mayLack: boolean): Promise<Kubeconfig> {
  const read = await Promise.all(paths.map((path) => readKubeconfig(path, mayLack)));
  const found = read.filter((kubeconfig) => kubeconfig !== undefined);
  const merge = (pick: (kubeconfig: Kubeconfig) => ReadonlyMap<string, KubeconfigEntry>) =>
    new Map(found.toReversed().flatMap((kubeconfig) => [...pick(kubeconfig)]));
  return {
    files: found.flatMap(({ files }) => files),
    currentContext: found.find(({ currentContext }) => currentContext !== undefined)?.currentContext,
    clusters: merge(({ clusters }) => clusters),
    users: merge(({ users }) => users),
    contexts: merge(({ contexts }) => contexts),
  };
}

async function readKubeconfig(file: string, mayLack: boolean): Promise<Kubeconfig | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (mayLack && findErrorCode(error) === 'ENOENT') return undefined;
    throw new ClusterConfigurationError(`cannot read kubeconfig: ${file}: ${describeReadFault(error)}`, file);
  }
  const fields = parseJson(text) ?? parse(file, text, await import('../../yaml/parse-yaml.ts'));
  const current = fields['current-context'];
  return {
    files: [file],
    currentContext: typeof current === 'string' && current !== '' ? current : undefined,
    clusters: readEntries(file, fields, 'clusters', 'cluster'),
    users: readEntries(file, fields, 'users', 'user'),
    contexts: readEntries(file, fields, 'contexts', 'context'),
  };
}

/** With a remedy; the message of Node.js would repeat the path. */
function describeReadFault(error: unknown): string {
  const code = findErrorCode(error) ?? String(error);
  if (code === 'ENOENT') return 'no such file. Name one that exists, by the flag or in KUBECONFIG.';
  if (code === 'EACCES') return 'permission denied. Let this user read the file, or run as its owner.';
  if (code === 'EISDIR') return 'a folder. Give a file in it.';
  return `${code}. Give a file that this user can read.`;
}

/** A start then does not load the library for YAML. @returns undefined if it is not JSON */
function parseJson(text: string): Fields | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function parse(
  file: string,
  text: string,
  { parseYamlDocument }: typeof import('../../yaml/parse-yaml.ts'),
): Fields {
  // A warning would show keys of the file, which may be secrets.
  const document = parseYamlDocument(text, { logLevel: 'error' });
  const [error] = document.errors;
  if (error !== undefined) {
    // The error's own message may quote the file, and so a secret.
    const line = error.linePos?.[0].line ?? 1;
    const message = `cannot read kubeconfig: ${file}:${line}: not YAML (${error.code}). Correct this line or the one before it.`;
    throw new ClusterConfigurationError(message, file);
  }
  const content = toValue(file, document) ?? {};
  if (!isFields(content)) {
    throw new ClusterConfigurationError(
      `cannot read kubeconfig: ${file}: not a mapping. Give a file as kubectl config view --raw prints it.`,
      file,
    );
  }
  return content;
}

/** Aliases may be undefined, or expand a small file enormously. Do not report the alias: it may be a secret. */
function toValue(file: string, document: Document): unknown {
  try {
    return document.toJS();
  } catch {
    const message = `cannot read kubeconfig: ${file}: an alias cannot be followed. Write its value in full.`;
    throw new ClusterConfigurationError(message, file);
  }
}

function readEntries(
  file: string,
  fields: Fields,
  list: string,
  inner: string,
): ReadonlyMap<string, KubeconfigEntry> {
  const items = fields[list] ?? [];
  const fail = (problem: string) =>
    new ClusterConfigurationError(`cannot use kubeconfig: ${file}: ${list} ${problem}`, file, list);
  if (!Array.isArray(items)) throw fail('must be a list');
  const entries = new Map<string, KubeconfigEntry>();
  for (const item of items) {
    const name: unknown = isFields(item) ? item['name'] : undefined;
    const content: unknown = isFields(item) ? (item[inner] ?? {}) : undefined;
    if (typeof name !== 'string' || !isFields(content)) {
      throw fail(`must hold entries with a name and a ${inner}`);
    }
    if (entries.has(name)) throw fail(`names "${name}" twice`);
    entries.set(name, new KubeconfigEntry(file, name, `${list}["${name}"].${inner}`, content));
  }
  return entries;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
