/**
 * kube2sky as a program of its own, with its HTTP port:
 *
 *     /healthz     200 while the process is alive
 *     /readiness   200 once all records were written, or another instance writes them
 */
import { EtcdClient } from '@portolan/etcd/source/client/etcd-client.ts';
import { loadV2 } from '@portolan/etcd/v2/load.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import type { Connection } from '@portolan/kubernetes/api/connection/types.ts';
import type { HttpPort } from '@portolan/server/observe/http-host.ts';
import { type HttpRoute, PLAIN_TEXT } from '@portolan/server/observe/http-route.ts';
import { Kube2Sky } from './kube2sky.ts';
import { ownerKey, type RecordStore } from './record-store.ts';
import type { Kube2SkyPlan } from './settings/kube2sky-plan.ts';
import { V3RecordStore } from './v3-record-store.ts';

export interface Kube2SkyProgramDependencies {
  readonly clock: Clock;
  readonly log: Log;
  /** Identity of this instance, unique per instance. */
  readonly identity: string;
  /** 0: any free port. */
  readonly healthzPort: number;
  /** @throws Error with the reason if an API server cannot be used */
  readonly connect: () => Promise<Connection>;
}

export class Kube2SkyProgram {
  /** Resolves when the program must end with an error. */
  readonly failure: Promise<Error>;
  readonly httpPort: HttpPort;
  readonly #plan: Kube2SkyPlan;
  readonly #dependencies: Kube2SkyProgramDependencies;
  #running: Kube2Sky | undefined;
  #close: () => void = () => {};
  #isStopped = false;
  #fail: (error: Error) => void = () => {};

  constructor(plan: Kube2SkyPlan, dependencies: Kube2SkyProgramDependencies) {
    this.#plan = plan;
    this.#dependencies = dependencies;
    const place = {
      address: undefined,
      port: dependencies.healthzPort,
      waitForPort: false,
      flag: '-healthz-port',
    };
    this.httpPort = { name: 'kube2sky', options: place, routes: this.#routes() };
    this.failure = new Promise((resolve) => {
      this.#fail = resolve;
    });
  }

  /** @throws ClusterConfigurationError and what `connect` throws */
  async start(): Promise<void> {
    const { connect, clock, log, identity } = this.#dependencies;
    const connection = await connect();
    if (this.#isStopped) {
      connection.close();
      return;
    }
    const { store, close } = await openStore(this.#plan, identity, { clock, log });
    this.#close = () => {
      close();
      connection.close();
    };
    if (this.#isStopped) {
      this.#close();
      return;
    }
    this.#running = new Kube2Sky(this.#plan, { connection, store, clock, log });
    void this.#running.failure.then((error) => this.#fail(error));
    this.#running.start();
  }

  /** Ends a start that waits for its connection, too. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running?.stop();
    this.#close();
  }

  #routes(): ReadonlyMap<string, HttpRoute> {
    const say = (status: number, body: string) => ({ status, type: PLAIN_TEXT, body });
    return new Map<string, HttpRoute>([
      ['/healthz', () => say(200, 'ok\n')],
      [
        '/readiness',
        () =>
          this.#running?.isReady === true ? say(200, 'ok\n') : say(503, 'records are not written yet\n'),
      ],
    ]);
  }
}

async function openStore(
  { endpoints, version, domain }: Kube2SkyPlan,
  identity: string,
  { clock, log }: Pick<Kube2SkyProgramDependencies, 'clock' | 'log'>,
): Promise<{ readonly store: RecordStore; readonly close: () => void }> {
  const owner = ownerKey(domain);
  if (version === 2) {
    const { EtcdV2Client } = await loadV2(log);
    const { V2RecordStore } = await import('./v2-record-store.ts');
    const client = new EtcdV2Client({ endpoints }, clock);
    return { store: new V2RecordStore({ client, owner, identity, clock, log }), close: () => client.close() };
  }
  const client = new EtcdClient({ endpoints }, clock);
  return { store: new V3RecordStore(client, owner, identity), close: () => client.close() };
}
