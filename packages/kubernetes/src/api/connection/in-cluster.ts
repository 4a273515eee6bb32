/**
 * The in-cluster configuration of a pod: the address from its environment, the token and CA of its service account.
 */
import { access } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Environment } from '@portolan/kernel/base/environment.ts';
import { RotatingFile } from './byte-source.ts';
import { readEnvironmentProxy } from './kubeconfig-cluster.ts';
import { readServerAddress } from './server-address.ts';
import type { ConnectionSettings } from './settings.ts';

export const serviceAccountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';

/** @returns a message why we are not in a cluster, if we are not */
export async function readInCluster(
  environment: Environment,
  folder: string,
  clock: Clock,
): Promise<ConnectionSettings | string> {
  const host = environment['KUBERNETES_SERVICE_HOST'] ?? '';
  const port = environment['KUBERNETES_SERVICE_PORT'] ?? '';
  if (host === '' || port === '') {
    return 'in-cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set';
  }
  const token = join(folder, 'token');
  if (!(await isReadable(token))) {
    return `in-cluster: ${token} cannot be read; is automountServiceAccountToken off?`;
  }
  const authority = join(folder, 'ca.crt');
  const address = `https://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  const server = readServerAddress(address, 'cannot use KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT');
  return {
    server,
    source: 'in-cluster',
    // Without the file the system's CAs are used, as in client-go.
    authority: (await isReadable(authority)) ? new RotatingFile(authority, clock) : undefined,
    verify: true,
    // On the network of the nodes.
    compresses: false,
    user: { token: new RotatingFile(token, clock) },
    proxy: readEnvironmentProxy(server, environment),
  };
}

async function isReadable(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}
