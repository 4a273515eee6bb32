/**
 * The way of a command to the API server double: a kubeconfig, and the connection that it makes.
 */
import type { TemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { findCluster } from '@portolan/kubernetes/api/connection/find-cluster.ts';
import type { Connection } from '@portolan/kubernetes/api/connection/types.ts';
import type { ApiServerDouble } from '../api-server/api-server.ts';

/** @returns the path */
export async function writeKubeconfig(
  folder: TemporaryFolder,
  { url, port }: ApiServerDouble,
): Promise<string> {
  return await folder.write(
    `kubeconfig-${port}`,
    `{apiVersion: v1, kind: Config, current-context: it, contexts: [{name: it, context: {cluster: it, user: it}}],
      clusters: [{name: it, cluster: {server: "${url}"}}], users: [{name: it, user: {}}]}`,
  );
}

export async function openCluster(kubecfgFile: string): Promise<Connection> {
  const found = await findCluster({ kubecfgFile, environment: {}, home: undefined });
  if (found.kind === 'none') throw new Error(found.lookedFor.join());
  return found;
}
