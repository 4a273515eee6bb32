/**
 * Finds the cluster: by flags, else from the pod that we run in, else from the user's kubeconfig.
 */
import { delimiter, join } from 'node:path';
import { type Clock, systemClock } from '@portolan/kernel/base/clock.ts';
import type { Environment } from '@portolan/kernel/base/environment.ts';
import { type LoadClientNode, loadClientNode } from './client-node-credentials.ts';
import { openConnection } from './http-connection.ts';
import { readInCluster, serviceAccountFolder } from './in-cluster.ts';
import { type ClusterChoice, readCluster, readEnvironmentProxy } from './kubeconfig-cluster.ts';
import { readServerAddress } from './server-address.ts';
import type { ConnectionSettings } from './settings.ts';
import type { Connection } from './types.ts';

export interface FindClusterOptions {
  /** `--kubecfg-file`: this file and no other place. */
  readonly kubecfgFile?: string | undefined;
  /** `--context`: a context of the kubeconfig. The in-cluster configuration is then ignored. */
  readonly context?: string | undefined;
  /** `--kube-master-url`: by itself, this address without credentials; with a kubeconfig, replaces its server. */
  readonly masterUrl?: string | undefined;
  readonly environment: Environment;
  /** The user's home folder; undefined if there is none. */
  readonly home: string | undefined;
  readonly clock?: Clock;
  /** Folder of the service account's files, and the loader of client-node; tests replace them. */
  readonly serviceAccount?: string;
  readonly loadClientNode?: LoadClientNode;
}

export interface NoCluster {
  readonly kind: 'none';
  /** Each place searched, and the result. */
  readonly lookedFor: readonly string[];
}

/** @throws {ClusterConfigurationError} if a cluster is configured but its configuration cannot be used */
export async function findCluster(options: FindClusterOptions): Promise<Connection | NoCluster> {
  const clock = options.clock ?? systemClock;
  const settings = await findSettings(options, clock);
  return 'kind' in settings ? settings : await openConnection(settings, clock);
}

async function findSettings(
  options: FindClusterOptions,
  clock: Clock,
): Promise<ConnectionSettings | NoCluster> {
  const { kubecfgFile, context, masterUrl, environment } = options;
  const load = options.loadClientNode ?? loadClientNode;
  const choice: ClusterChoice = { context, masterUrl, environment, clock, loadClientNode: load };
  if (kubecfgFile !== undefined) {
    const { readKubeconfigs } = await loadKubeconfigReader();
    return readCluster(await readKubeconfigs([kubecfgFile], false), choice);
  }
  if (masterUrl !== undefined && context === undefined) return alone(masterUrl, environment);
  const lookedFor: string[] = [];
  if (context === undefined) {
    const found = await readInCluster(environment, options.serviceAccount ?? serviceAccountFolder, clock);
    if (typeof found !== 'string') return found;
    lookedFor.push(found);
  }
  const { files, words } = kubeconfigPlaces(options);
  const { readKubeconfigs } = await loadKubeconfigReader();
  const kubeconfig = await readKubeconfigs(files, true);
  if (kubeconfig.files.length > 0) return readCluster(kubeconfig, choice);
  return { kind: 'none', lookedFor: [...lookedFor, ...words] };
}

/** Loaded late: a pod needs no kubeconfig, and the reader of YAML takes 7 MB. */
const loadKubeconfigReader = () => import('./kubeconfig-file.ts');

function alone(masterUrl: string, environment: Environment): ConnectionSettings {
  const server = readServerAddress(masterUrl, 'cannot use --kube-master-url');
  const proxy = readEnvironmentProxy(server, environment);
  return { server, source: '--kube-master-url', verify: true, user: {}, proxy };
}

interface Places {
  readonly files: readonly string[];
  /** Messages to show if none of the files exists. */
  readonly words: readonly string[];
}

function kubeconfigPlaces({ environment, home }: FindClusterOptions): Places {
  const named = (environment['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '');
  if (named.length > 0) {
    return { files: named, words: named.map((path) => `KUBECONFIG: no such file: ${path}`) };
  }
  const unset = 'KUBECONFIG: not set';
  if (home === undefined) return { files: [], words: [unset, '~/.kube/config: there is no home folder'] };
  const usual = join(home, '.kube', 'config');
  return { files: [usual], words: [unset, `~/.kube/config: no such file: ${usual}`] };
}
