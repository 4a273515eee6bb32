/**
 * A watch of a cluster against the API server double, with a manual clock.
 */
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { HttpConnection } from '@portolan/kubernetes/api/connection/http-connection.ts';
import type { ConnectionSettings } from '@portolan/kubernetes/api/connection/settings.ts';
import { ClusterWatch, type ClusterWatchOptions } from '@portolan/kubernetes/api/list-watch/cluster-watch.ts';
import type { KindStatus } from '@portolan/kubernetes/api/list-watch/reflector.ts';
import type {
  EndpointsObject,
  NamespaceObject,
  PodObject,
  ServiceObject,
} from '@portolan/kubernetes/objects/objects.ts';
import { MemorySink } from '@portolan/kubernetes/testing/memory-sink.ts';
import { ApiServerDouble, type ApiServerOptions } from '../api-server/api-server.ts';
import type { KubernetesObject } from '../api-server/object-store.ts';

export function service(name: string, clusterIP = '10.96.0.10', namespace = 'default'): KubernetesObject {
  const ports = [{ name: 'http', port: 80, protocol: 'TCP' }];
  return { kind: 'Service', metadata: { name, namespace }, spec: { clusterIP, ports } };
}

export function slice(name: string, of: string, address = '10.244.0.1'): KubernetesObject {
  return {
    kind: 'EndpointSlice',
    metadata: { name, namespace: 'default', labels: { 'kubernetes.io/service-name': of } },
    addressType: 'IPv4',
    endpoints: [{ addresses: [address], conditions: {} }],
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
  };
}

export function endpoints(name: string, address = '10.244.0.1'): KubernetesObject {
  const subsets = [{ addresses: [{ ip: address }], ports: [{ port: 8080 }] }];
  return { kind: 'Endpoints', metadata: { name, namespace: 'default' }, subsets };
}

export function namespace(name: string): KubernetesObject {
  return { kind: 'Namespace', metadata: { name } };
}

export function pod(name: string, podIP: string, phase = 'Running'): KubernetesObject {
  return { kind: 'Pod', metadata: { name, namespace: 'default' }, status: { phase, podIP } };
}

export interface HarnessOptions {
  /** Default: one of its own. */
  readonly clock?: ManualClock;
  readonly server?: ApiServerOptions;
  readonly settings?: Partial<ConnectionSettings>;
  readonly watch?: Partial<ClusterWatchOptions>;
  /** Which sinks there are beside services and endpoints. */
  readonly kinds?: readonly ('namespaces' | 'pods')[];
}

export class Harness {
  readonly clock = new ManualClock();
  readonly log = new RecordingLog();
  readonly services = new MemorySink<ServiceObject>();
  readonly endpoints = new MemorySink<EndpointsObject>();
  readonly namespaces = new MemorySink<NamespaceObject>();
  readonly pods = new MemorySink<PodObject>();
  readonly double: ApiServerDouble;
  readonly connection: HttpConnection;
  readonly watch: ClusterWatch;

  private constructor(double: ApiServerDouble, clock: ManualClock, options: HarnessOptions) {
    this.double = double;
    this.clock = clock;
    const server = new URL(double.url);
    const settings = { server, source: 'test', verify: true, user: {}, ...options.settings };
    this.connection = new HttpConnection(settings, clock);
    const { services, endpoints } = this;
    const namespaces = options.kinds?.includes('namespaces') ? this.namespaces : undefined;
    const pods = options.kinds?.includes('pods') ? this.pods : undefined;
    this.watch = new ClusterWatch({
      connection: this.connection,
      sinks: { services, endpoints, namespaces, pods },
      log: this.log,
      clock,
      random: () => 0.5,
      ...options.watch,
      // Time is turned in steps of seconds, faster than a connection is made and an answer comes.
      timing: { connect: 1e9, checkAnswer: 1e9, ...options.watch?.timing },
    });
  }

  static async start(options: HarnessOptions = {}): Promise<Harness> {
    const clock = options.clock ?? new ManualClock();
    const double = await ApiServerDouble.start({ clock, ...options.server });
    const harness = new Harness(double, clock, options);
    harness.watch.start();
    return harness;
  }

  kind(title: string): KindStatus {
    const status = this.watch.status().kinds.find((kind) => kind.title === title);
    if (status === undefined) throw new Error(`not watched: ${title}`);
    return status;
  }

  get state(): string {
    return this.kind('services').state.kind;
  }

  /** Waits, without letting time pass. */
  until(what: string, condition: () => boolean): Promise<void> {
    return waitUntil(what, condition);
  }

  /** Waits, while time passes in steps of so many milliseconds. */
  untilAsTimePasses(what: string, step: number, condition: () => boolean): Promise<void> {
    return waitUntil(what, condition, { step: () => this.clock.advance(step) });
  }

  /** Waits until all kinds are listed and watched. */
  untilWatching(): Promise<void> {
    const watching = () => this.watch.status().kinds.every((kind) => kind.state.kind === 'watching');
    return this.until('all kinds to be watched', watching);
  }

  async stop(): Promise<void> {
    await this.watch.stop();
    this.connection.close();
    await this.double.stop();
  }
}
