/**
 * A user of a real cluster with few permissions: a ServiceAccount, its role, and a kubeconfig with its token.
 */
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { TemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { parse } from 'yaml';
import type { AccessRule } from '../api-server/access.ts';
import type { KubernetesObject } from '../api-server/object-store.ts';

/** The account comes first. */
export function userObjects(
  namespace: string,
  name: string,
  rules: readonly AccessRule[],
): readonly [account: KubernetesObject, ...others: readonly KubernetesObject[]] {
  const role = { name: `${namespace}-${name}` };
  const apiGroup = 'rbac.authorization.k8s.io';
  const apiVersion = `${apiGroup}/v1`;
  return [
    { kind: 'ServiceAccount', apiVersion: 'v1', metadata: { name, namespace } },
    {
      kind: 'ClusterRole',
      apiVersion,
      metadata: role,
      rules: rules.map(({ groups, resources, verbs }) => ({ apiGroups: groups, resources, verbs })),
    },
    {
      kind: 'ClusterRoleBinding',
      apiVersion,
      metadata: role,
      roleRef: { apiGroup, kind: 'ClusterRole', name: role.name },
      subjects: [{ kind: 'ServiceAccount', name, namespace }],
    },
  ];
}

/** A kubeconfig, as far as it is read here. */
interface Kubeconfig {
  readonly 'current-context': string;
  readonly contexts: readonly { readonly name: string; readonly context: { readonly cluster: string } }[];
  readonly clusters: readonly {
    readonly name: string;
    readonly cluster: { readonly 'certificate-authority'?: string };
  }[];
}

/** A kubeconfig for the cluster of another one. @returns its path */
export async function writeKubeconfigLike(
  folder: TemporaryFolder,
  path: string,
  token: string,
): Promise<string> {
  const config = parse(await readFile(path, 'utf8')) as Kubeconfig; // Ours, or the user's: any client reads it.
  const { contexts, clusters, 'current-context': current } = config;
  const context = contexts.find(({ name }) => name === current)?.context;
  const cluster = clusters.find(({ name }) => name === context?.cluster)?.cluster;
  if (cluster === undefined) throw new Error(`no cluster in the current context: ${path}`);
  const { 'certificate-authority': authority } = cluster;
  const file = authority === undefined ? {} : { 'certificate-authority': resolve(dirname(path), authority) };
  return await folder.write(
    'kubeconfig',
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'test',
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
      clusters: [{ name: 'test', cluster: { ...cluster, ...file } }],
      users: [{ name: 'test', user: { token } }],
    }),
  );
}
