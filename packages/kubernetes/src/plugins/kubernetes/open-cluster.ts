/**
 * The connection to the API server that a `kubernetes` of a Corefile names.
 */
import { access, stat } from 'node:fs/promises';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { describeSystemError } from '@portolan/kernel/base/system-errors.ts';
import { RotatingFile } from '../../api/connection/byte-source.ts';
import { findCluster } from '../../api/connection/find-cluster.ts';
import { openConnection } from '../../api/connection/http-connection.ts';
import { readServerAddress } from '../../api/connection/server-address.ts';
import type { Connection } from '../../api/connection/types.ts';
import type { KubernetesApi } from './options.ts';

/** The cluster is missing. The start fails with the message. */
export class ClusterNotFoundError extends Error {
  override readonly name = 'ClusterNotFoundError';
}

export interface ClusterEnvironment {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
}

/** @throws ClusterNotFoundError, ClusterConfigurationError */
export async function openCluster(
  { endpoint, tls, kubeconfig }: KubernetesApi,
  { environment, clock }: ClusterEnvironment,
): Promise<Connection> {
  if (kubeconfig !== undefined) await checkKubeconfig(kubeconfig.path);
  if (kubeconfig === undefined && endpoint !== undefined) {
    if (tls !== undefined) await checkFiles(tls);
    const server = readServerAddress(endpoint, 'plugin/kubernetes: cannot use endpoint');
    const file = (path: string) => new RotatingFile(path, clock);
    const user =
      tls === undefined ? {} : { certificate: { certificate: file(tls.certificate), key: file(tls.key) } };
    const authority = tls === undefined ? undefined : file(tls.authorities);
    return await openConnection({ server, source: 'endpoint', authority, verify: true, user }, clock);
  }
  const isInPod =
    environment['KUBERNETES_SERVICE_HOST'] !== undefined &&
    environment['KUBERNETES_SERVICE_PORT'] !== undefined;
  if (kubeconfig === undefined && !isInPod)
    throw new ClusterNotFoundError(
      'plugin/kubernetes: unable to load in-cluster configuration, ' +
        'KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined',
    );
  const found = await findCluster({
    kubecfgFile: kubeconfig?.path,
    context: kubeconfig?.context,
    // Never use the user's own kubeconfig.
    environment: { ...environment, KUBECONFIG: undefined },
    home: undefined,
    clock,
  });
  if (found.kind === 'none')
    throw new ClusterNotFoundError(`plugin/kubernetes: ${found.lookedFor.join('; ')}`);
  return found;
}

async function checkKubeconfig(path: string): Promise<void> {
  try {
    await stat(path);
  } catch (error) {
    throw new ClusterNotFoundError(`plugin/kubernetes: stat ${path}: ${describeSystemError(error)}`);
  }
}

/** All files that cannot be read, in one message. */
async function checkFiles({
  certificate,
  key,
  authorities,
}: NonNullable<KubernetesApi['tls']>): Promise<void> {
  const files = { 'client-cert': certificate, 'client-key': key, 'certificate-authority': authorities };
  const faults = await Promise.all(
    Object.entries(files).map(async ([what, path]) => {
      try {
        await access(path);
        return [];
      } catch (error) {
        return [`unable to read ${what} ${path} for  due to open ${path}: ${describeSystemError(error)}`];
      }
    }),
  );
  const all = faults.flat();
  if (all.length === 0) return;
  const listed = all.length === 1 ? all.join() : `[${all.join(', ')}]`;
  throw new ClusterNotFoundError(`plugin/kubernetes: invalid configuration: ${listed}`);
}
