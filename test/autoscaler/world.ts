/**
 * Autoscalers with the API server double, on a manual clock.
 */
import { writeSortedFamilies } from '@portolan/kernel/base/metrics/text-format.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { fixedBytes } from '@portolan/kubernetes/api/connection/byte-source.ts';
import { HttpConnection } from '@portolan/kubernetes/api/connection/http-connection.ts';
import { Autoscaler } from '@portolan/ops/autoscaler/autoscaler.ts';
import { readAutoscalerFlags } from '@portolan/server/settings/autoscaler/autoscaler-flags.ts';
import type { AutoscalerPlan } from '@portolan/server/settings/autoscaler/autoscaler-plan.ts';
import { onTestFinished } from 'vitest';
import { ApiServerDouble, type ApiServerOptions, type RecordedRequest } from '../api-server/api-server.ts';
import type { KubernetesObject } from '../api-server/object-store.ts';
import { readReplicas } from '../api-server/scale.ts';
import { makeNode } from './nodes.ts';

export const NAMESPACE = 'kube-system';
export const CONFIG_MAP = 'dns-autoscaler';
/** The parameters that the recording was made with. */
export const DEFAULTS =
  '{"linear":{"coresPerReplica":256,"nodesPerReplica":2,"preventSinglePointFailure":true}}';
const PERIOD = 10_000;

export const FLAGS = [
  `--namespace=${NAMESPACE}`,
  `--configmap=${CONFIG_MAP}`,
  '--target=deployment/coredns',
  `--default-params=${DEFAULTS}`,
];

export function readAutoscalerPlan(flags: readonly string[]): AutoscalerPlan {
  const reading = readAutoscalerFlags(flags, {});
  if (reading.kind !== 'good') throw new Error(JSON.stringify(reading));
  return reading.settings.plan;
}

export const nodes = (count: number): readonly KubernetesObject[] =>
  Array.from({ length: count }, (_none, number) => makeNode(`w${number}`, { cpu: '4', ready: 'True' }));

export function scalable(name: string, replicas: number, kind = 'Deployment'): KubernetesObject {
  return { kind, metadata: { name, namespace: NAMESPACE }, spec: { replicas } };
}

export function configMap(data: Readonly<Record<string, string>>): KubernetesObject {
  return { kind: 'ConfigMap', metadata: { name: CONFIG_MAP, namespace: NAMESPACE }, data };
}

/** One running instance. */
export class Instance {
  readonly autoscaler: Autoscaler;
  readonly log = new RecordingLog();
  readonly #connection: HttpConnection;

  constructor(double: ApiServerDouble, clock: ManualClock, plan: AutoscalerPlan, identity: string) {
    const settings = {
      server: new URL(double.url),
      source: 'test',
      verify: false,
      user: { token: fixedBytes(Buffer.from(identity)) },
    };
    this.#connection = new HttpConnection(settings, clock);
    const dependencies = { connection: this.#connection, clock, log: this.log, random: () => 0.5, identity };
    this.autoscaler = new Autoscaler(plan, dependencies);
  }

  get polls(): number {
    return this.metric('polls_total') ?? 0;
  }

  /** The reason of the last poll; undefined if it went well. */
  get error(): string | undefined {
    const { lastPoll } = this.autoscaler.stats;
    return lastPoll.kind === 'failed' ? lastPoll.reason : undefined;
  }

  /** @param name without its prefix, with its labels */
  metric(name: string): number | undefined {
    const line = writeSortedFamilies(this.autoscaler.stats.families(this.autoscaler.isLeader))
      .split('\n')
      .find((each) => each.startsWith(`portolan_autoscaler_${name} `));
    return line === undefined ? undefined : Number(line.split(' ').at(-1));
  }

  async stop(): Promise<void> {
    await this.autoscaler.stop();
    this.#connection.close();
  }
}

export class World {
  readonly clock = new ManualClock();
  readonly instances: Instance[] = [];
  readonly double: ApiServerDouble;

  private constructor(double: ApiServerDouble, clock: ManualClock) {
    this.double = double;
    this.clock = clock;
  }

  static async start(options: ApiServerOptions = {}): Promise<World> {
    const clock = new ManualClock();
    const double = await ApiServerDouble.start({ clock, tls: 'server', ...options });
    const world = new World(double, clock);
    onTestFinished(async () => {
      for (const instance of world.instances) await instance.stop();
      await double.stop();
    });
    return world;
  }

  /** Starts an instance. */
  run(flags: readonly string[] = FLAGS, identity = 'one'): Instance {
    const instance = new Instance(this.double, this.clock, readAutoscalerPlan(flags), identity);
    this.instances.push(instance);
    instance.autoscaler.start();
    return instance;
  }

  /** Starts an instance, and waits for its first poll. */
  async runPolled(flags: readonly string[] = FLAGS): Promise<Instance> {
    const instance = this.run(flags);
    this.clock.advance(0);
    await waitUntil('the first poll', () => instance.polls === 1);
    return instance;
  }

  /** Lets a poll period pass, and waits for the poll at its end. */
  async nextPoll(instance: Instance): Promise<void> {
    const { polls } = instance;
    this.clock.advance(PERIOD);
    await waitUntil('the next poll', () => instance.polls > polls, { step: () => this.clock.advance(0) });
  }

  replicas(name = 'coredns', plural = 'deployments'): number | undefined {
    const stored = this.double.store.get(plural, `${NAMESPACE}/${name}`);
    return stored && readReplicas(stored.object);
  }

  get data(): unknown {
    return this.double.store.get('configmaps', `${NAMESPACE}/${CONFIG_MAP}`)?.object['data'];
  }

  /** Requests of polls, as `GET /api/...`; those of watches ask for other encodings. */
  get requests(): readonly string[] {
    return this.double.requests.filter(isOfPoll).map(({ verb, path }) => `${METHODS[verb] ?? verb} ${path}`);
  }
}

const METHODS: Readonly<Record<string, string>> = { get: 'GET', create: 'POST', update: 'PUT' };

function isOfPoll({ headers, verb, target }: RecordedRequest): boolean {
  return headers.accept === 'application/json' && verb !== 'other' && target?.plural !== 'events';
}
