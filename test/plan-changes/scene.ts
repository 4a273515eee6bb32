/**
 * The common environment of the servers of all front ends that change their plans in the test's own process.
 */
import { rename, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { parseName, toKey } from '@portolan/dns/name.ts';
import { CLASS } from '@portolan/dns/types.ts';
import { EtcdClient } from '@portolan/etcd/source/client/etcd-client.ts';
import { type Clock, systemClock } from '@portolan/kernel/base/clock.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import type { Engine } from '@portolan/kernel/engine/engine.ts';
import { makeStartThread } from '@portolan/kernel/listen/reader-threads.ts';
import type { TableWriter } from '@portolan/kernel/table/writer.ts';
import { LocalNamesPlugin } from '@portolan/plugins/local-names/local-names.ts';
import { localNames as localNamesPlugin } from '@portolan/plugins/local-names/plugin.ts';
import type { FrontEnd } from '@portolan/server/front-end.ts';
import { HttpHost } from '@portolan/server/observe/http-host.ts';
import type { ServerPlan } from '@portolan/server/plan/server-plan.ts';
import { withOptions } from '@portolan/server/plan/testing/with-options.ts';
import { Server, type ServerDependencies } from '@portolan/server/server.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { reply } from '@portolan/testing/upstream/reply.ts';
import { onTestFinished } from 'vitest';
import { type EtcdCluster, startEtcd } from '../etcd/etcd-server.ts';
import { namespace, pod, service, slice } from '../list-watch/harness.ts';
import { DoubleProcess } from '../support/double-process.ts';
import { ObservedFrontEnd } from './observed-front-end.ts';
import '../support/load-all-plugins.ts';

/** What the servers of all front ends share. */
export interface Surroundings {
  /** The bundled code of a reader thread. */
  readonly readerEntry: URL;
  /** That of the API server double. */
  readonly doubleEntry: URL;
}

export interface Part {
  readonly name: string;
  readonly reference: WeakRef<object>;
}

export interface ChangingServer {
  readonly port: number;
  /** Names whose answers come from all that a plan replaces. */
  readonly names: readonly string[];
  readonly table: TableWriter;
  /** Has the front end read other settings. */
  attempt(index: number): Promise<void>;
  /** Has the front end follow other settings. Ends when the server follows the plan that they give. */
  change(index: number): Promise<void>;
  /** What the present plan is and has brought to life. */
  parts(): readonly Part[];
}

export const ADDRESS = '127.0.0.1';

const HURRY = 10;
/** Time that runs faster, for those who wait until nobody writes a file any more: here each is written once. */
const hurriedClock: Clock = {
  now: systemClock.now,
  monotonic: () => HURRY * systemClock.monotonic(),
  after: (milliseconds, run) => systemClock.after(milliseconds / HURRY, run),
};

export interface Plain {
  readonly frontEnd: FrontEnd;
  readonly port: number;
  readonly names: readonly string[];
  /** Changes what the front end reads. */
  readonly change: (index: number) => unknown;
}

/** A server in the making. */
export class Scene {
  readonly dependencies: ServerDependencies;
  /** Those of what follows files. */
  readonly following: ServerDependencies;
  readonly #surroundings: Surroundings;
  #server: Server | undefined;
  #index = 0;
  #followed = 0;
  #plan = new WeakRef<object>({});

  constructor(surroundings: Surroundings) {
    const { readerEntry } = surroundings;
    this.#surroundings = surroundings;
    this.dependencies = {
      environment: {},
      home: undefined,
      exampleFolder: 'examples/cluster',
      clock: systemClock,
      log: silentLog,
      http: new HttpHost({ clock: systemClock, log: silentLog }),
      startReader: makeStartThread(readerEntry),
      queryLogEntry: new URL('query-log.mjs', readerEntry),
      version: 'test',
    };
    this.following = { ...this.dependencies, clock: hurriedClock };
  }

  get engine(): Engine {
    if (this.#server === undefined) throw new Error('the server is not made yet');
    return this.#server.engine;
  }

  get server(): Server {
    if (this.#server === undefined) throw new Error('the server is not made yet');
    return this.#server;
  }

  /** An upstream server with an address for every name. */
  async startUpstream(): Promise<string> {
    const upstream = await LoopbackUpstream.start(({ query, send }) => {
      send(reply(query));
      // What it has received is nothing that the server holds.
      upstream.queries.length = 0;
    });
    onTestFinished(() => upstream.stop());
    return upstream.address;
  }

  async startCluster(): Promise<DoubleProcess> {
    const double = await DoubleProcess.start(this.#surroundings.doubleEntry);
    onTestFinished(() => double.end());
    await double.put(namespace('default'), service('web'), slice('web-1', 'web'), pod('p1', '10.244.0.1'));
    return double;
  }

  /** @returns a client, which writes keys */
  async startEtcd(): Promise<{
    readonly etcd: EtcdCluster;
    put(key: string, value: string): Promise<unknown>;
  }> {
    const etcd = await startEtcd();
    const client = new EtcdClient(etcd.settings, systemClock);
    onTestFinished(() => client.close());
    const put = (key: string, value: string) =>
      client.transact({
        conditions: [],
        operations: [{ kind: 'put', key: Buffer.from(key), value: Buffer.from(value) }],
      });
    await put('/skydns/test/skydns/a', '{"host":"10.0.0.1"}');
    return { etcd, put };
  }

  /** @param prepare called before the server starts */
  async serve(
    { frontEnd, port, names, change }: Plain,
    prepare: () => unknown = () => {},
  ): Promise<ChangingServer> {
    const observed = new ObservedFrontEnd(frontEnd, {
      vary: (plan) => vary(plan, this.#index),
      followed: (plan) => {
        this.#plan = new WeakRef(plan);
        this.#followed += 1;
      },
    });
    const server = new Server(observed, this.dependencies);
    this.#server = server;
    onTestFinished(() => server.stop());
    await prepare();
    await server.start();
    await waitUntil('the server to be ready', () => server.readiness().ready);
    const attempt = async (index: number) => {
      this.#index = index;
      await change(index);
    };
    return {
      port,
      names,
      table: server.engine.table,
      attempt,
      change: async (index) => {
        const followed = this.#followed;
        const parts = this.#mainParts();
        await attempt(index);
        await waitUntil('the plan', () => this.#followed > followed && this.#hasReplaced(parts));
      },
      parts: () => this.#parts(),
    };
  }

  /** The blocks, of which each plan has its own. */
  #mainParts(): WeakRef<object> {
    return new WeakRef(this.engine.serverBlocks);
  }

  #hasReplaced(part: WeakRef<object>): boolean {
    return part.deref() !== this.engine.serverBlocks;
  }

  #parts(): readonly Part[] {
    const { serverBlocks, handlers } = this.engine;
    const local = this.engine.find(LocalNamesPlugin)?.handlers;
    const own = { serverBlocks, handlers, ...(local && { local }) };
    const parts = Object.entries(own).map(([name, part]) => ({ name, reference: new WeakRef<object>(part) }));
    return [{ name: 'plan', reference: this.#plan }, ...parts];
  }
}

/** Another plan for each number: beside what the front end has changed, local names and rules, where a front end has them. */
function vary(plan: ServerPlan, index: number): ServerPlan {
  if (plan.queryLines === 'plugins') return plan;
  const { engine } = plan;
  const records = Array.from({ length: 20 }, (_, each) => ({
    name: parseName(`n${each}.v${index}.example.`),
    class: CLASS.IN,
    ttl: 5,
    data: { kind: 'A', address: `10.0.${index >> 8}.${index & 255}` } as const,
  }));
  const scope = { kind: 'domain', name: toKey(parseName('rule.example.')) } as const;
  const action = { kind: 'address', address: '192.0.2.3' } as const;
  const changed = withOptions(engine, localNamesPlugin, ({ settings, networks }) => ({
    settings: {
      ...settings,
      names: { ...settings.names, records },
      questions: { ...settings.questions, routes: [{ scope, action }] },
    },
    networks,
  }));
  return { ...plan, engine: changed };
}

/** As a whole, so that nobody reads half of it. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.new`);
  await writeFile(temporary, text);
  await rename(temporary, path);
}
