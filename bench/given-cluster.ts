/**
 * The cluster of the kubeconfig file in `KUBECONFIG`: reads it, and changes it in a namespace of its own.
 */
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { findCluster } from '@portolan/kubernetes/api/connection/find-cluster.ts';
import type { Connection } from '@portolan/kubernetes/api/connection/types.ts';
import type { KubernetesObject } from '../test/api-server/object-store.ts';
import { type ClusterService, toServiceName } from './cluster.ts';
import { serviceObject, sliceObject } from './kubernetes-objects.ts';
import { machineTime } from './machine.ts';

const NAMESPACE = 'portolan-bench';
const PROBE: ClusterService = { namespace: NAMESPACE, name: 'probe', addresses: [], endpoints: [] };
const SERVICES = `/api/v1/namespaces/${NAMESPACE}/services`;
const SLICES = `/apis/discovery.k8s.io/v1/namespaces/${NAMESPACE}/endpointslices`;

interface GivenService {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: { readonly clusterIP?: string };
}

/** @returns the name of the service with addresses that is listed last, and how many services there are */
export async function readGivenCluster(path: string): Promise<{ last: string; services: number }> {
  const connection = await connect(path);
  try {
    const { items } = JSON.parse(await send(connection, 'GET', '/api/v1/services')) as {
      items: readonly GivenService[]; // As the API reference has it.
    };
    const last = items.findLast(({ spec }) => spec.clusterIP !== undefined && spec.clusterIP !== 'None');
    if (last === undefined) throw new Error(`no service with an address: ${path}`);
    return { last: toServiceName(last.metadata), services: items.length };
  } finally {
    connection.close();
  }
}

/** A headless service in the given cluster whose one endpoint is changed. */
export class GivenProbe {
  readonly name = toServiceName(PROBE);
  readonly #connection: Connection;
  #isThere = false;

  private constructor(connection: Connection) {
    this.#connection = connection;
  }

  static async create(path: string): Promise<GivenProbe> {
    const probe = new GivenProbe(await connect(path));
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };
    await send(probe.#connection, 'POST', '/api/v1/namespaces', namespace);
    await send(probe.#connection, 'POST', SERVICES, withVersion('v1', serviceObject(PROBE)));
    return probe;
  }

  /** @returns when the API server had written the change, by the machine's clock */
  async point(address: string): Promise<number> {
    const slice = sliceObject(PROBE, [{ hostname: 'probe-0', address }]);
    const [method, path] = this.#isThere
      ? (['PUT', `${SLICES}/${slice.metadata.name}`] as const)
      : (['POST', SLICES] as const);
    await send(this.#connection, method, path, withVersion('discovery.k8s.io/v1', slice));
    this.#isThere = true;
    return machineTime();
  }

  async remove(): Promise<void> {
    await send(this.#connection, 'DELETE', `/api/v1/namespaces/${NAMESPACE}`);
    this.#connection.close();
  }
}

/** Without what refers to objects that are not there. */
function withVersion(apiVersion: string, object: KubernetesObject): object {
  const { name, namespace, labels } = object.metadata;
  return { ...object, apiVersion, metadata: { name, namespace, labels } };
}

async function connect(path: string): Promise<Connection> {
  const found = await findCluster({
    kubecfgFile: path,
    environment: {},
    home: undefined,
    clock: systemClock,
  });
  if (found.kind === 'none') throw new Error(`no cluster: ${path}`);
  return found;
}

async function send(
  connection: Connection,
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  object?: object,
): Promise<string> {
  const headers = { 'content-type': 'application/json' };
  const body = object === undefined ? {} : { body: JSON.stringify(object) };
  const response = await connection.request(path, { method, headers, ...body });
  const pieces: Uint8Array[] = [];
  for await (const piece of response.body) pieces.push(piece);
  const text = Buffer.concat(pieces).toString('utf8');
  if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 200)}`);
  return text;
}
