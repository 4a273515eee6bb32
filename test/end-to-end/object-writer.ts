/**
 * Creates, changes and deletes objects of a cluster by plain requests, with the credentials of a kubeconfig, for the double and
 * for a real API server.
 */
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { authenticate } from '@portolan/kubernetes/api/connection/authentication.ts';
import { loadClientNode } from '@portolan/kubernetes/api/connection/client-node-credentials.ts';
import { readCluster } from '@portolan/kubernetes/api/connection/kubeconfig-cluster.ts';
import { readKubeconfigs } from '@portolan/kubernetes/api/connection/kubeconfig-file.ts';
import type { ConnectionSettings } from '@portolan/kubernetes/api/connection/settings.ts';
import { type CatalogEntry, findByKind } from '../api-server/catalog.ts';
import type { KubernetesObject } from '../api-server/object-store.ts';

export interface ApiAnswer {
  readonly status: number;
  readonly text: string;
}

export class ApiRefusal extends Error {
  readonly status: number;

  constructor(method: string, path: string, { status, text }: ApiAnswer) {
    super(`${method} ${path}: ${status} ${text}`);
    this.status = status;
  }
}

const CONFLICT = 409;
const MAX_TRIES = 5;

/** Kinds that only a real API server has. */
const REAL_KINDS: readonly Pick<CatalogEntry, 'kind' | 'plural' | 'namespaced'>[] = [
  { kind: 'ServiceAccount', plural: 'serviceaccounts', namespaced: true },
  { kind: 'ClusterRole', plural: 'clusterroles', namespaced: false },
  { kind: 'ClusterRoleBinding', plural: 'clusterrolebindings', namespaced: false },
  { kind: 'CustomResourceDefinition', plural: 'customresourcedefinitions', namespaced: false },
];

export class ObjectWriter {
  readonly #settings: ConnectionSettings;

  constructor(settings: ConnectionSettings) {
    this.#settings = settings;
  }

  static async open(kubeconfig: string): Promise<ObjectWriter> {
    const choice = { context: undefined, masterUrl: undefined, environment: {} };
    return new ObjectWriter(
      await readCluster(await readKubeconfigs([kubeconfig], false), {
        ...choice,
        clock: systemClock,
        loadClientNode,
      }),
    );
  }

  /** @returns the object as the server has it, with what it added */
  create(object: KubernetesObject): Promise<KubernetesObject> {
    return this.#ask('POST', toCollectionPath(object), object);
  }

  /** Those of the kind, and of the namespace where it has one. @param like any of them, by whose kind they are found */
  async list(like: KubernetesObject): Promise<readonly KubernetesObject[]> {
    const { items } = await this.#ask('GET', toCollectionPath(like));
    return items as readonly KubernetesObject[]; // Of any list.
  }

  /** @returns the object as it is now */
  read(object: KubernetesObject): Promise<KubernetesObject> {
    return this.#ask('GET', toPath(object));
  }

  /** @returns a token of a ServiceAccount, which holds for an hour */
  async createToken(account: KubernetesObject): Promise<string> {
    const { name, namespace } = account.metadata;
    const request = {
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
      spec: {},
    };
    const { status } = await this.#ask('POST', `${toPath(account)}/token`, request);
    return (status as { readonly token: string }).token; // Of any TokenRequest that is granted.
  }

  /** The group and version that the server serves first of those of a group, as in `apps/v1`. */
  async preferredVersion(group: string): Promise<string> {
    const { preferredVersion } = await this.#ask('GET', `/apis/${group}`);
    return (preferredVersion as { readonly groupVersion: string }).groupVersion; // Of any APIGroup.
  }

  /** Changes what is there, however often others change it meanwhile. */
  async change(
    object: KubernetesObject,
    edit: (current: KubernetesObject) => KubernetesObject,
  ): Promise<KubernetesObject> {
    const path = toPath(object);
    for (let tries = 1; ; tries += 1) {
      const current = await this.#ask('GET', path);
      try {
        return await this.#ask('PUT', path, edit(current));
      } catch (error) {
        if (!(error instanceof ApiRefusal && error.status === CONFLICT) || tries === MAX_TRIES) throw error;
      }
    }
  }

  /** Sets the status of an object, which a real API server takes apart from the rest. */
  setStatus(object: KubernetesObject, status: unknown): Promise<KubernetesObject> {
    return this.#ask('PUT', `${toPath(object)}/status`, { ...object, status });
  }

  async delete(object: KubernetesObject): Promise<void> {
    await this.#ask('DELETE', toPath(object));
  }

  async #ask(method: string, path: string, body?: KubernetesObject): Promise<KubernetesObject> {
    const answer = await this.send(method, path, body === undefined ? undefined : JSON.stringify(body));
    if (answer.status >= 300) throw new ApiRefusal(method, path, answer);
    return JSON.parse(answer.text) as KubernetesObject; // What an API server answers to these.
  }

  /** Any request, with any answer. */
  async send(method: string, path: string, body: string | undefined): Promise<ApiAnswer> {
    const { headers, tls } = await authenticate(this.#settings);
    const { server } = this.#settings;
    const send = server.protocol === 'https:' ? httpsRequest : httpRequest;
    const url = new URL(server.pathname.replace(/\/+$/, '') + path, server);
    const content = body === undefined ? {} : { 'content-type': 'application/json' };
    return new Promise((resolve, reject) => {
      const options = { method, headers: { ...headers, ...content }, ...tls, agent: false as const };
      const request = send(url, options, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
        );
      });
      request.on('error', reject);
      request.end(body);
    });
  }
}

function toCollectionPath({ kind, apiVersion = 'v1', metadata }: KubernetesObject): string {
  const { plural, namespaced } = REAL_KINDS.find((each) => each.kind === kind) ?? findByKind(kind);
  const base = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return namespaced ? `${base}/namespaces/${metadata.namespace}/${plural}` : `${base}/${plural}`;
}

function toPath(object: KubernetesObject): string {
  return `${toCollectionPath(object)}/${object.metadata.name}`;
}
