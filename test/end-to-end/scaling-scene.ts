/**
 * A namespace with a few nodes of its own, objects with replicas, and the autoscalers that scale them. A label distinguishes
 * these nodes from others of the cluster.
 */
import type { Program } from '@portolan/testing/program.ts';
import { expect, vi } from 'vitest';
import type { KubernetesObject } from '../api-server/object-store.ts';
import { readReplicas } from '../api-server/scale.ts';
import { runPortolan } from '../support/portolan.ts';
import { NODE_LABEL, nodeObject, type ScalableKind, scalableObject } from './scalable-objects.ts';
import type { TestCluster } from './test-cluster.ts';

const CONFIG_MAP = 'scaling';
/** A change must be acted on within this time; in a real cluster others are at work too. */
const POLLING = { timeout: 30_000, interval: 25 };

/** Parameters that count nodes whether they take pods or not: a real cluster finds out that no kubelet runs on ours. */
export function linear(nodesPerReplica: number): { readonly linear: string } {
  return { linear: JSON.stringify({ nodesPerReplica, includeUnschedulableNodes: true }) };
}

/** As `--default-params` has them. */
export function defaultParams({ linear: text }: { readonly linear: string }): string {
  return `--default-params={"linear":${text}}`;
}

export class ScalingScene {
  readonly cluster: TestCluster;
  readonly namespace: string;
  /** The group of the custom resource Pool. */
  readonly poolGroup: string;

  private constructor(cluster: TestCluster, namespace: string, poolGroup: string) {
    this.cluster = cluster;
    this.namespace = namespace;
    this.poolGroup = poolGroup;
  }

  static async open(cluster: TestCluster, nodes = 5): Promise<ScalingScene> {
    const namespace = await cluster.addNamespace();
    const scene = new ScalingScene(cluster, namespace, await cluster.definePools());
    for (let number = 0; number < nodes; number += 1) await scene.addNode(number);
    return scene;
  }

  async addNode(number: number): Promise<void> {
    await this.cluster.add(this.node(number));
  }

  node(number: number, ready = 'True'): KubernetesObject {
    return nodeObject(`${this.namespace}-${number}`, this.namespace, { cpu: '4', ready });
  }

  async addTarget(kind: ScalableKind = 'Deployment', name = 'web'): Promise<void> {
    await this.cluster.addOnceServed(this.#target(kind, name));
  }

  async removeTarget(kind: ScalableKind = 'Deployment', name = 'web'): Promise<void> {
    await this.cluster.remove(this.#target(kind, name));
    await vi.waitFor(async () => expect(await this.replicas(kind, name)).toBeUndefined(), POLLING);
  }

  changeTarget(edit: (current: KubernetesObject) => KubernetesObject): Promise<KubernetesObject> {
    return this.cluster.change(this.#target('Deployment', 'web'), edit);
  }

  /** Undefined where there is no such object. */
  async replicas(kind: ScalableKind = 'Deployment', name = 'web'): Promise<number | undefined> {
    const object = await this.cluster.read(this.#target(kind, name));
    return object && readReplicas(object);
  }

  async expectReplicas(expected: number, kind?: ScalableKind, name?: string): Promise<void> {
    await vi.waitFor(async () => expect(await this.replicas(kind, name)).toBe(expected), POLLING);
  }

  /** The data of the ConfigMap; undefined while there is none. */
  async parameters(): Promise<unknown> {
    return (await this.cluster.read(this.#configMap({})))?.['data'];
  }

  async setParameters(data: Readonly<Record<string, string>>): Promise<void> {
    const object = this.#configMap(data);
    if ((await this.parameters()) === undefined) await this.cluster.add(object);
    else await this.cluster.change(object, (current) => ({ ...current, data }));
  }

  async removeParameters(): Promise<void> {
    await this.cluster.remove(this.#configMap({}));
  }

  /** The instance that has the Lease; empty for none. */
  async leaseHolder(): Promise<unknown> {
    const metadata = { name: CONFIG_MAP, namespace: this.namespace };
    const lease = await this.cluster.read({
      kind: 'Lease',
      apiVersion: 'coordination.k8s.io/v1',
      metadata,
    });
    return (lease?.['spec'] as { readonly holderIdentity?: string } | undefined)?.holderIdentity;
  }

  /** @param expected as `events` has them */
  async expectEvents(expected: readonly string[]): Promise<void> {
    await vi.waitFor(async () => expect(await this.events()).toEqual(expected), POLLING);
  }

  /** Events that an autoscaler has written, each as `ScaledUp Deployment/web`, sorted. */
  async events(): Promise<readonly string[]> {
    const { namespace } = this;
    const events = await this.cluster.list({
      kind: 'Event',
      apiVersion: 'v1',
      metadata: { name: '', namespace },
    });
    return events
      .filter(({ source }) => (source as { readonly component?: string }).component === 'portolan-autoscaler')
      .map(({ reason, involvedObject }) => {
        const { kind, name } = involvedObject as { readonly kind: string; readonly name: string };
        return `${reason} ${kind}/${name}`;
      })
      .sort();
  }

  /** Starts an autoscaler that polls each second. */
  run(flags: readonly string[], kubeconfig = this.cluster.kubeconfig): Program {
    return runPortolan([
      'autoscaler',
      '--healthz-port=0',
      '--logtostderr=true',
      '--v=2',
      '--poll-period-seconds=1',
      `--namespace=${this.namespace}`,
      `--configmap=${CONFIG_MAP}`,
      `--kubecfg-file=${kubeconfig}`,
      `--nodelabels=${NODE_LABEL}=${this.namespace}`,
      ...flags,
    ]);
  }

  #target(kind: ScalableKind, name: string): KubernetesObject {
    return scalableObject(kind, this.namespace, name, this.poolGroup);
  }

  #configMap(data: Readonly<Record<string, string>>): KubernetesObject {
    const metadata = { name: CONFIG_MAP, namespace: this.namespace };
    return { kind: 'ConfigMap', apiVersion: 'v1', metadata, data };
  }
}

/** What `/last-poll` says: empty while all goes well. */
export async function lastPoll(program: Program): Promise<string> {
  return (await get(program, '/last-poll')).text();
}

export async function expectLastPoll(program: Program, expected: string | RegExp): Promise<void> {
  await vi.waitFor(async () => {
    const said = await lastPoll(program);
    if (typeof expected === 'string') expect(said).toBe(expected);
    else expect(said).toMatch(expected);
  }, POLLING);
}

/** @param name without its prefix */
export async function metric(program: Program, name: string): Promise<number | undefined> {
  const text = await (await get(program, '/metrics')).text();
  const [, value] = new RegExp(`^portolan_autoscaler_${name} (\\d+)$`, 'm').exec(text) ?? [];
  return value === undefined ? undefined : Number(value);
}

/** Waits until this many polls have begun and ended from now on. */
export async function passPolls(program: Program, count: number): Promise<void> {
  const polls = async () => (await metric(program, 'polls_total')) ?? 0;
  // One may be under way.
  const enough = (await polls()) + count + 1;
  await vi.waitFor(async () => expect(await polls()).toBeGreaterThanOrEqual(enough), POLLING);
}

async function get(program: Program, path: string): Promise<Response> {
  const { port } = await program.heard('started');
  return await fetch(`http://127.0.0.1:${port}${path}`);
}
