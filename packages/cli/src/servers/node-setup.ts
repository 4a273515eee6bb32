/**
 * What a node's cache sets up around its server: the Corefile that it renders, interface and rules, and the metrics of set-up errors.
 */
import { rmSync } from 'node:fs';
import type { CoreDnsMetrics } from '@portolan/frontends/coredns/run/coredns-metrics.ts';
import { NodeCacheMetrics } from '@portolan/frontends/node-cache/network/node-cache-metrics.ts';
import type { NodeNetwork } from '@portolan/frontends/node-cache/network/node-network.ts';
import { createNodeNetwork } from '@portolan/frontends/node-cache/network/set-up-network.ts';
import { FollowedCorefile } from '@portolan/frontends/node-cache/run/followed-corefile.ts';
import { adaptBlocks } from '@portolan/frontends/node-cache/settings/node-cache-blocks.ts';
import type { NodeCachePlan } from '@portolan/frontends/node-cache/settings/node-cache-plan.ts';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { METRICS_TEXT } from '@portolan/kernel/base/metrics/text-format.ts';
import type { HttpHost } from '@portolan/server/observe/http-host.ts';
import { HttpServerError } from '@portolan/server/observe/http-server.ts';
import { openSharedPort } from '@portolan/server/observe/shared-port.ts';
import type { Server } from '@portolan/server/server.ts';
import type { Companion } from '../process/life-cycle.ts';
import { NO_COMPANIONS } from '../process/server-companions.ts';
import type { CorefileProgram } from './serve-corefile.ts';

export class NodeSetup {
  readonly #plan: NodeCachePlan;
  readonly #log: Log;
  readonly #metrics = new NodeCacheMetrics();
  readonly #corefile: FollowedCorefile;
  #writeMetrics = () => this.#metrics.render();
  #network: NodeNetwork | undefined;
  #server: Server | undefined;

  constructor(plan: NodeCachePlan, log: Log) {
    this.#plan = plan;
    this.#log = log;
    this.#corefile = new FollowedCorefile({
      plan,
      environment: process.env,
      // Before the server runs, the file needs no reload.
      onChange: () => void this.#server?.reload(),
      onError: () => this.#metrics.addError('configmap'),
      clock: systemClock,
      log,
    });
  }

  /** The server of the Corefile, with what it needs around it. */
  get program(): CorefileProgram {
    const { dashboard, takeover } = this.#plan;
    return {
      role: 'node-cache',
      companionPlans: { ...NO_COMPANIONS, dashboard, takeover },
      prepare: (http) => this.#prepare(http),
      adapt: adaptBlocks,
      settingsProblems: () => this.#corefile.problems,
      missingRules: () => this.#network?.missingRules,
      takeover,
      // Its rules send clients elsewhere before it stops.
      drain: 0,
      accompany: (server, metrics) => this.#accompany(server, metrics),
    };
  }

  /** Renders the Corefile, and adds the addresses that the sockets need. */
  async #prepare(http: HttpHost): Promise<void> {
    const plan = this.#plan;
    // The file distinguishes this process from a predecessor that answers on the same addresses.
    if (plan.pidFile !== undefined) rmSync(plan.pidFile, { force: true });
    const onError = (error: Parameters<NodeCacheMetrics['addError']>[0]) => this.#metrics.addError(error);
    const network = await createNodeNetwork({ plan, onError, clock: systemClock, log: this.#log });
    this.#network = network;
    this.#metrics.showRules(network);
    await openMetrics(plan, http, () => this.#writeMetrics(), this.#log);
    await this.#corefile.start();
    await network.prepare();
  }

  /** Sets rules while the server answers, and removes them before it stops, so that packets do not reach a closed port. */
  #accompany(server: Server, metrics: CoreDnsMetrics): Companion {
    return {
      serve: () => {
        this.#server = server;
        this.#writeMetrics = () => metrics.render();
        this.#metrics.countInto(server.engine.metrics);
        this.#network?.start();
      },
      leave: () => this.#leave(),
      stop: () => this.#leaveOrStop(),
    };
  }

  /** Call it in any case: a start may fail, for example if another process has the port. */
  async end(): Promise<void> {
    await this.#leaveOrStop();
    await this.#corefile.stop();
  }

  /** With `-takeover` another process may serve the same addresses; then its rules stay. */
  #leave(): Promise<void> | undefined {
    const { skipsTeardown, takeover } = this.#plan;
    return skipsTeardown || takeover ? this.#network?.hold() : this.#network?.stop();
  }

  #leaveOrStop(): Promise<void> | undefined {
    return this.#plan.skipsTeardown ? this.#network?.leave() : this.#network?.stopUnlessServed();
  }
}

/** Prepares the network for a server that lacks the privileges for it. @returns the exit code */
export async function setUpNetwork(plan: NodeCachePlan, log: Log): Promise<number> {
  let hasFailed = false;
  const network = await createNodeNetwork({
    plan,
    onError: (error) => {
      hasFailed ||= error === 'interface_add';
    },
    clock: systemClock,
    log,
  });
  await network.prepare();
  await network.leave();
  return hasFailed ? 1 : 0;
}

async function openMetrics(
  { metricsAddress: place, takeover }: NodeCachePlan,
  http: HttpHost,
  writeMetrics: () => string,
  log: Log,
): Promise<void> {
  const [, host = '', port = ''] = /^(.*):(\d+)$/.exec(place) ?? [];
  const address = host.replace(/^\[(.*)\]$/, '$1');
  const metrics = () => ({ status: 200, type: METRICS_TEXT, body: writeMetrics() });
  const options = {
    address: address === '' ? undefined : address,
    port: Number(port),
    waitForPort: true,
    openPort: takeover ? openSharedPort : undefined,
    flag: '-metrics-listen-address',
  };
  try {
    await http.open({ name: 'node-setup', options, routes: new Map([['/metrics', metrics]]) });
  } catch (error) {
    if (!(error instanceof HttpServerError)) throw error;
    // As in the original, do not fail: serving DNS matters more.
    log.error(error.message);
  }
}
