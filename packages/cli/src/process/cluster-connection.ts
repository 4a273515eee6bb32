/**
 * Connects programs to the API server of their cluster.
 */
import { randomUUID } from 'node:crypto';
import { homedir, hostname } from 'node:os';
import type { Log } from '@portolan/kernel/base/log.ts';
import type { FindClusterOptions } from '@portolan/kubernetes/api/connection/find-cluster.ts';
import type { Connection } from '@portolan/kubernetes/api/connection/types.ts';
import type { Companion } from './life-cycle.ts';

/** Settings that are undefined are looked up as in `kubectl`. */
export type ApiServerSettings = Pick<FindClusterOptions, 'kubecfgFile' | 'context' | 'masterUrl'>;

/** The cluster of the pod or of the user's kubeconfig. */
export const ANY_CLUSTER: ApiServerSettings = {
  kubecfgFile: undefined,
  context: undefined,
  masterUrl: undefined,
};

/** The holder's identity in a Lease: the pod's name for readers, and a UUID that changes with each restart. */
export function makeIdentity(): string {
  return `${hostname()}_${randomUUID()}`;
}

/** @throws Error listing the places searched; ClusterConfigurationError */
export async function connectToCluster(cluster: ApiServerSettings, log: Log): Promise<Connection> {
  const { findCluster } = await import('@portolan/kubernetes/api/connection/find-cluster.ts');
  const found = await findCluster({ ...cluster, environment: process.env, home: homedir() });
  if (found.kind === 'none')
    throw new Error(
      `no cluster found, looked for:${found.lookedFor.map((place) => `\n  ${place}`).join('')}\n` +
        'Run it in a pod, or name a kubeconfig file with --kubecfg-file or an API server with --kube-master-url.',
    );
  log.info('cluster found', { server: found.server, source: found.source });
  return found;
}

/** A part of a server that writes to the API server. */
export interface ClusterClient {
  stop(): Promise<void>;
}

export interface ClusterCompanionOptions<Client extends ClusterClient> {
  /** @throws Error with the reason if no API server can be used */
  readonly connect: () => Promise<Connection>;
  /** Starts the client. */
  readonly run: (connection: Connection) => Promise<Client>;
  /** Logs why it cannot start. */
  readonly onFailure: (reason: string) => void;
}

/**
 * Runs a client of the API server inside a server. It neither delays the server's start nor ends the server, and ends its work, such as
 * its hold of a Lease, while the server still answers.
 */
export class ClusterCompanion<Client extends ClusterClient> implements Companion {
  readonly #options: ClusterCompanionOptions<Client>;
  #running: { readonly connection: Connection; readonly client: Client } | undefined;
  #stopping: Promise<void> | undefined;

  constructor(options: ClusterCompanionOptions<Client>) {
    this.#options = options;
  }

  /** Undefined before the start. */
  get client(): Client | undefined {
    return this.#running?.client;
  }

  serve(): void {
    this.#start().catch((error: unknown) => this.#options.onFailure(String(error)));
  }

  /** Begins to stop, which does not delay the server. */
  leave(): void {
    this.#stopping ??= this.#stop();
    // `stop` rejects with the same reason.
    this.#stopping.catch(() => {});
  }

  async stop(): Promise<void> {
    this.leave();
    await this.#stopping;
  }

  async #start(): Promise<void> {
    const { connect, run } = this.#options;
    const connection = await connect();
    const client = this.#stopping === undefined ? await run(connection) : undefined;
    if (client !== undefined) this.#running = { connection, client };
    // A stop that came meanwhile has found nothing to end.
    if (client === undefined) connection.close();
    else if (this.#stopping !== undefined) await this.#stop();
  }

  async #stop(): Promise<void> {
    await this.#running?.client.stop();
    this.#running?.connection.close();
  }
}
