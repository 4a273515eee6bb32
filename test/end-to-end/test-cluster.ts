/**
 * The clusters of the end-to-end suite: the double in a process of its own, and a real cluster if `PORTOLAN_TEST_KUBECONFIG`
 * names one. All objects created in them are deleted again.
 */
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { type Access, type AccessRule, kubeDnsRules } from '../api-server/access.ts';
import { catalog } from '../api-server/catalog.ts';
import type { KubernetesObject } from '../api-server/object-store.ts';
import { formatUser } from '../api-server/rbac.ts';
import { afterFile } from '../support/after-file.ts';
import { bundleDouble, DoubleProcess, writeKubeconfig } from '../support/double-process.ts';
import {
  type Endpoint,
  endpointObjects,
  namespaceObject,
  type Port,
  serviceObject,
} from './kubernetes-objects.ts';
import { type ApiAnswer, ApiRefusal, ObjectWriter } from './object-writer.ts';
import { poolDefinition } from './scalable-objects.ts';
import { userObjects, writeKubeconfigLike } from './user-objects.ts';

/** Undefined if it is not set, or empty. */
const REAL_KUBECONFIG = process.env['PORTOLAN_TEST_KUBECONFIG'] || undefined;

const NOT_FOUND = 404;
/** Until a custom resource that was defined is served. */
const DEADLINE_MILLISECONDS = 30_000;
const PAUSE_MILLISECONDS = 50;

/** Who does everything, as the suite itself and a Portolan that was given its own role. */
const FULL_RULES: readonly AccessRule[] = catalog.map(({ group, plural, hasScale }) => ({
  groups: [group],
  resources: [plural, `${plural}/status`, ...(hasScale === true ? [`${plural}/scale`] : [])],
  verbs: ['list', 'watch', 'get', 'create', 'update', 'delete'],
}));
const ACCESS: Required<Access> = {
  tokens: { 'own-role': 'portolan', 'old-role': 'kube-dns' },
  rules: { portolan: FULL_RULES, 'kube-dns': kubeDnsRules },
};

const POOL_GROUP = 'portolan-test.example.com';

export class TestCluster {
  /** For `--kubecfg-file`. */
  readonly kubeconfig: string;
  /** One with the rights of `system:kube-dns` alone, where the cluster is ours to say so. */
  readonly kubeDnsKubeconfig: string;
  /** Undefined for a real cluster. */
  readonly double: DoubleProcess | undefined;
  readonly #writer: ObjectWriter;
  /** Of EndpointSlices: before Kubernetes 1.21 there was no `v1`. */
  readonly #sliceVersion: string;
  /** In the order of their making. */
  #made: KubernetesObject[] = [];
  #namespaces = 0;
  #definedPools: Promise<unknown> | undefined;
  #access = ACCESS;

  private constructor(
    kubeconfig: string,
    kubeDnsKubeconfig: string,
    { writer, sliceVersion }: { readonly writer: ObjectWriter; readonly sliceVersion: string },
    double: DoubleProcess | undefined,
  ) {
    this.kubeconfig = kubeconfig;
    this.kubeDnsKubeconfig = kubeDnsKubeconfig;
    this.double = double;
    this.#writer = writer;
    this.#sliceVersion = sliceVersion;
  }

  /** For `beforeAll`. */
  static async openReal(kubeconfig: string): Promise<TestCluster> {
    const writer = await ObjectWriter.open(kubeconfig);
    const sliceVersion = await writer.preferredVersion('discovery.k8s.io');
    const cluster = new TestCluster(kubeconfig, kubeconfig, { writer, sliceVersion }, undefined);
    afterFile(() => cluster.#clear());
    return cluster;
  }

  /** For `beforeAll`. */
  static async startDouble(...flags: readonly string[]): Promise<TestCluster> {
    const pools = ['--serve', `${POOL_GROUP}/v1/pools`];
    const double = await DoubleProcess.start(await bundleDouble(), '--tls', ...pools, ...flags);
    afterFile(() => double.end());
    await double.allow(ACCESS);
    const kubeconfigFor = async (token: string) =>
      writeKubeconfig(await makeTemporaryFolder(afterFile), double.url, { token });
    const kubeconfig = await kubeconfigFor('own-role');
    const writer = await ObjectWriter.open(kubeconfig);
    const access = { writer, sliceVersion: 'discovery.k8s.io/v1' };
    return new TestCluster(kubeconfig, await kubeconfigFor('old-role'), access, double);
  }

  /** A new namespace. @returns its name */
  async addNamespace(): Promise<string> {
    this.#namespaces += 1;
    const name = `portolan-test-${process.pid}-${this.#namespaces}`;
    await this.add(namespaceObject(name));
    return name;
  }

  /** @returns the addresses that the cluster gave it, if any */
  async addService(
    namespace: string,
    name: string,
    spec: Readonly<Record<string, unknown>> & { readonly ports?: readonly Port[] },
  ): Promise<readonly string[]> {
    return listClusterIps(await this.add(serviceObject(namespace, name, spec)));
  }

  async addEndpoints(
    namespace: string,
    service: string,
    endpoints: readonly Endpoint[],
    ports: readonly Port[],
  ): Promise<void> {
    for (const object of this.#endpointObjects(namespace, service, endpoints, ports)) await this.add(object);
  }

  async changeEndpoints(
    namespace: string,
    service: string,
    endpoints: readonly Endpoint[],
    ports: readonly Port[],
  ): Promise<void> {
    for (const object of this.#endpointObjects(namespace, service, endpoints, ports)) {
      const { kind: _kind, apiVersion: _version, metadata: _metadata, ...content } = object;
      await this.#writer.change(object, (current) => ({ ...current, ...content }));
    }
  }

  async changeService(
    namespace: string,
    name: string,
    spec: Readonly<Record<string, unknown>>,
  ): Promise<readonly string[]> {
    const edit = (current: KubernetesObject) => ({ ...current, spec: { ...getSpec(current), ...spec } });
    return listClusterIps(await this.#writer.change(serviceObject(namespace, name, {}), edit));
  }

  /** A pod that runs nowhere, whose status says that it runs. */
  async addPod(namespace: string, name: string, podIP: string): Promise<void> {
    const status = { phase: 'Running', podIP, podIPs: [{ ip: podIP }] };
    const containers = [{ name: 'none', image: 'none.invalid/none' }];
    const spec = { schedulerName: 'portolan-test-nobody', containers };
    const metadata = { name, namespace };
    const made = await this.add({ kind: 'Pod', apiVersion: 'v1', metadata, spec, status });
    if (this.double === undefined) await this.#writer.setStatus(made, status);
  }

  /** The group of the custom resource Pool. In a real cluster another one in each run, which the first call defines. */
  async definePools(): Promise<string> {
    if (this.double !== undefined) return POOL_GROUP;
    const group = `p${process.pid}.${POOL_GROUP}`;
    this.#definedPools ??= this.add(poolDefinition(group));
    await this.#definedPools;
    return group;
  }

  /** A user with these rights and no others. @returns the path of its kubeconfig */
  async addUser(namespace: string, name: string, rules: readonly AccessRule[]): Promise<string> {
    const folder = await makeTemporaryFolder(afterFile);
    if (this.double === undefined) {
      const [account, ...others] = userObjects(namespace, name, rules);
      for (const object of [account, ...others]) await this.add(object);
      return await writeKubeconfigLike(folder, this.kubeconfig, await this.#writer.createToken(account));
    }
    const user = formatUser({ namespace, name });
    const { tokens, rules: known } = this.#access;
    this.#access = { tokens: { ...tokens, [user]: user }, rules: { ...known, [user]: rules } };
    await this.double.allow(this.#access);
    return await writeKubeconfig(folder, this.double.url, { token: user });
  }

  /** @returns the object as it is now; undefined if there is none */
  async read(object: KubernetesObject): Promise<KubernetesObject | undefined> {
    try {
      return await this.#writer.read(object);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  list(like: KubernetesObject): Promise<readonly KubernetesObject[]> {
    return this.#writer.list(like);
  }

  change(
    object: KubernetesObject,
    edit: (current: KubernetesObject) => KubernetesObject,
  ): Promise<KubernetesObject> {
    return this.#writer.change(object, edit);
  }

  /** Asks the API server anything. */
  send(method: string, path: string, body: string | undefined): Promise<ApiAnswer> {
    return this.#writer.send(method, path, body);
  }

  async setStatus(object: KubernetesObject, status: unknown): Promise<void> {
    await this.#writer.setStatus(object, status);
  }

  async add(object: KubernetesObject): Promise<KubernetesObject> {
    const made = await this.#writer.create(object);
    this.#made.push(object);
    return made;
  }

  /** As `add`, for a kind that was only just defined: the server may not serve it yet. */
  async addOnceServed(object: KubernetesObject): Promise<KubernetesObject> {
    const end = performance.now() + DEADLINE_MILLISECONDS;
    for (;;) {
      try {
        return await this.add(object);
      } catch (error) {
        if (!(error instanceof ApiRefusal) || performance.now() > end) throw error;
        await new Promise((wake) => setTimeout(wake, PAUSE_MILLISECONDS));
      }
    }
  }

  /** Deletes a service with its endpoints, or only the service. */
  async removeService(namespace: string, name: string): Promise<void> {
    await this.remove(serviceObject(namespace, name, {}));
    for (const object of this.#endpointObjects(namespace, name, [], [])) await this.remove(object);
  }

  /** Deletes a namespace and what was made in it. */
  async removeNamespace(name: string): Promise<void> {
    const inside = this.#made.filter(({ metadata }) => metadata.namespace === name);
    for (const object of inside) await this.remove(object);
    await this.remove(namespaceObject(name));
  }

  #endpointObjects(...of: Parameters<typeof endpointObjects>): readonly KubernetesObject[] {
    return endpointObjects(...of).map((object) =>
      object.kind === 'EndpointSlice' ? { ...object, apiVersion: this.#sliceVersion } : object,
    );
  }

  /** Other hands may have removed it: in a real cluster, endpoints go with their service. */
  async remove(object: KubernetesObject): Promise<void> {
    const { kind, metadata } = object;
    this.#made = this.#made.filter(
      (made) =>
        made.kind !== kind ||
        made.metadata.name !== metadata.name ||
        made.metadata.namespace !== metadata.namespace,
    );
    try {
      await this.#writer.delete(object);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  async #clear(): Promise<void> {
    const clusterWide = this.#made.filter(({ metadata }) => metadata.namespace === undefined);
    // With a namespace all goes that is in it.
    for (const object of clusterWide.toReversed()) await this.remove(object);
  }
}

/** For `describe.each`: all clusters that the suite runs against. */
export const CLUSTERS = [
  { title: 'the API server double', open: () => TestCluster.startDouble() },
  { title: 'the double with watch-list', open: () => TestCluster.startDouble('--watch-list') },
  ...(REAL_KUBECONFIG === undefined ? [] : [realCluster(REAL_KUBECONFIG)]),
];

function realCluster(kubeconfig: string) {
  return { title: `the cluster of ${kubeconfig}`, open: () => TestCluster.openReal(kubeconfig) };
}

function isNotFound(error: unknown): boolean {
  return error instanceof ApiRefusal && error.status === NOT_FOUND;
}

function getSpec(object: KubernetesObject): Readonly<Record<string, unknown>> {
  return (object['spec'] ?? {}) as Record<string, unknown>; // Any service has one.
}

function listClusterIps(service: KubernetesObject): readonly string[] {
  const { clusterIPs, clusterIP } = getSpec(service) as { clusterIPs?: string[]; clusterIP?: string };
  const all = clusterIPs ?? (clusterIP === undefined ? [] : [clusterIP]);
  return all.filter((address) => address !== 'None');
}
