/**
 * kube-dns's ConfigMap, changed in both ways that a pod sees: as files of a volume, and in the API server.
 */
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ApiServerDouble } from '../api-server/api-server.ts';
import type { KubernetesObject } from '../api-server/object-store.ts';

/** Texts, or octets, by their keys. */
export type Data = Readonly<Record<string, string | Uint8Array>>;

/** The volume of a ConfigMap: files are links into a folder whose own link is swapped, so that all change at once. */
export class ConfigMapVolume {
  readonly path: string;
  #revision = 0;
  #keys: readonly string[] = [];

  constructor(path: string) {
    this.path = path;
  }

  /** As kubelet does it, of whom keys are file names. */
  async write(data: Data): Promise<void> {
    this.#revision += 1;
    const revision = `..revision_${this.#revision}`;
    await mkdir(join(this.path, revision), { recursive: true });
    const keys = Object.keys(data);
    for (const key of keys) await writeFile(join(this.path, revision, key), data[key] ?? '');
    await symlink(revision, join(this.path, '..data_tmp'));
    await rename(join(this.path, '..data_tmp'), join(this.path, '..data'));
    const isNew = (key: string) => !this.#keys.includes(key);
    for (const key of keys.filter(isNew)) await symlink(join('..data', key), join(this.path, key));
    for (const key of this.#keys.filter((key) => !keys.includes(key))) await rm(join(this.path, key));
    await rm(join(this.path, `..revision_${this.#revision - 1}`), { recursive: true, force: true });
    this.#keys = keys;
  }
}

const NAME = 'kube-dns';
const NAMESPACE = 'kube-system';

export function configMap(data: Readonly<Record<string, unknown>>): KubernetesObject {
  return { kind: 'ConfigMap', metadata: { name: NAME, namespace: NAMESPACE }, data };
}

/** Puts the ConfigMap into an API server, or takes it away. */
export function changeConfigMap(double: ApiServerDouble, data: Readonly<Record<string, string>> | undefined) {
  if (data === undefined) double.delete('ConfigMap', NAME, NAMESPACE);
  else double.put(configMap(data));
}
