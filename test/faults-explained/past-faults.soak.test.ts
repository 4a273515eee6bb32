/**
 * Faults that are made, undone, and asked for fifteen minutes later: one command names the cause of each, and what ended it.
 *
 * The clock of the server is manual, so that minutes are short. The API server, the upstream server, readers and clients are real, and the
 * operator runs the built program.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { RCODE } from '@portolan/dns/types.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import type { PastDiagnosis } from '@portolan/ops/control/past-records.ts';
import { createServerControl, type ServerControl } from '@portolan/ops/control/server-control.ts';
import type { PastExplanation } from '@portolan/server/history/past-verdict.ts';
import { askShort } from '@portolan/testing/client/ask.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiServerDouble } from '../api-server/api-server.ts';
import type { KubernetesObject } from '../api-server/object-store.ts';
import { type InProcessServer, serveInProcess } from '../faults/in-process-server.ts';
import { ConfigMapVolume } from '../pod/config-map.ts';
import { afterFile } from '../support/after-file.ts';
import { bundleServerThreads } from '../support/bundle-thread.ts';
import { runToEnd } from '../support/control.ts';
import { endAllPrograms } from '../support/portolan.ts';
import { UpstreamFaults } from './upstream.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** How much faster the clock of the server goes than that of the machine, while a test waits. */
const USUAL_SPEED = 20;
const FAST = 200;
/** Milliseconds for which a fault lasts at least. */
const LASTS = 5 * SECOND;
const MAX_TRIES = 60;
const PORTS = [{ name: 'http', port: 80, protocol: 'TCP' }];
const named = (name: string) => ({ name, namespace: 'shop' });

const service = (name: string, spec: object): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: named(name),
  spec: { ports: PORTS, ...spec },
});

const slice = (
  of: string,
  pods: readonly { readonly name: string; readonly ready: boolean }[],
): KubernetesObject => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  addressType: 'IPv4',
  ports: PORTS,
  metadata: { ...named(`${of}-1`), labels: { 'kubernetes.io/service-name': of } },
  endpoints: pods.map(({ name, ready }, index) => ({
    addresses: [`10.244.0.${index + 1}`],
    hostname: name,
    conditions: { ready },
  })),
});

const READY = [
  { name: 'db-0', ready: true },
  { name: 'db-1', ready: true },
];
const OFFICE: KubernetesObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'office' } };
const DESK: KubernetesObject = {
  ...service('desk', { clusterIP: '10.96.0.23' }),
  metadata: { name: 'desk', namespace: 'office' },
};
const OBJECTS: readonly KubernetesObject[] = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } },
  OFFICE,
  DESK,
  service('cart', { clusterIP: '10.96.0.20' }),
  service('till', { clusterIP: '10.96.0.21' }),
  service('mail', { clusterIP: '10.96.0.22' }),
  ...['db', 'queue', 'lake'].flatMap((name) => [service(name, { clusterIP: 'None' }), slice(name, READY)]),
  service('ring', { type: 'ExternalName', externalName: 'www.example.com' }),
  service('pay', { type: 'ExternalName', externalName: 'www.example.com' }),
];

/** The server, and all that it depends on. */
class World {
  readonly clock = new ManualClock();
  readonly double: ApiServerDouble;
  readonly upstream: LoopbackUpstream;
  readonly faults: UpstreamFaults;
  readonly config: ConfigMapVolume;
  readonly socket: string;
  readonly #history: string;
  readonly #readerEntry: URL;
  #server: InProcessServer | undefined;
  #control: ServerControl | undefined;
  #turned = performance.now();

  private constructor(
    parts: Pick<World, 'double' | 'upstream' | 'faults' | 'config'> & {
      readonly folder: string;
      readonly readerEntry: URL;
      readonly clock: ManualClock;
    },
  ) {
    this.clock = parts.clock;
    this.double = parts.double;
    this.upstream = parts.upstream;
    this.faults = parts.faults;
    this.config = parts.config;
    this.socket = join(parts.folder, 'socket');
    this.#history = join(parts.folder, 'history');
    this.#readerEntry = parts.readerEntry;
  }

  static async open(): Promise<World> {
    const clock = new ManualClock();
    const double = await ApiServerDouble.start({ clock, objects: OBJECTS });
    afterFile(() => double.stop());
    const faults = new UpstreamFaults();
    const upstream = await LoopbackUpstream.start(faults.react);
    afterFile(() => upstream.stop());
    const { path: folder } = await makeTemporaryFolder(afterFile);
    await mkdir(join(folder, 'config'));
    const config = new ConfigMapVolume(join(folder, 'config'));
    await config.write({});
    const readerEntry = await bundleServerThreads();
    const world = new World({ clock, double, upstream, faults, config, folder, readerEntry });
    await world.start();
    return world;
  }

  async start(isListed = true): Promise<void> {
    const { clock, double, upstream, config } = this;
    const flags = {
      kubeMasterUrl: double.url,
      upstream: [`127.0.0.1:${upstream.port}`],
      configDir: config.path,
      historyFile: this.#history,
    };
    const step = () => this.step(USUAL_SPEED);
    this.#server = await serveInProcess(flags, {
      readerEntry: this.#readerEntry,
      clock,
      step,
      isListed,
      atEnd: afterFile,
      accompany: (server) => {
        const place = { kind: 'file', path: this.socket, isDefault: false } as const;
        const control = { place, server, role: 'serve', log: undefined, format: 'text', clock } as const;
        this.#control = createServerControl({ ...control, messages: silentLog });
      },
    });
    await this.#control?.socket.start();
  }

  async stop(): Promise<void> {
    let isOver = false;
    void this.#server?.server.stop().then(() => {
      isOver = true;
    });
    await this.until('the server to stop', () => isOver);
    await this.#control?.stop();
  }

  /** Why the latest configuration is not in force; empty: it is. */
  get rejected(): readonly string[] {
    return this.#server?.server.rejected ?? [];
  }

  /** Turns the clock as far as time has gone. */
  step(speed: number): void {
    const now = performance.now();
    this.clock.advance((now - this.#turned) * speed);
    this.#turned = now;
  }

  async until(what: string, condition: () => boolean, speed = USUAL_SPEED): Promise<void> {
    this.#turned = performance.now();
    await waitUntil(what, condition, { step: () => this.step(speed), deadline: 60_000 });
  }

  /** Lets time go by. */
  async pass(milliseconds: number, speed = USUAL_SPEED): Promise<void> {
    const end = this.clock.now() + milliseconds;
    await this.until('some time', () => this.clock.now() >= end, speed);
  }

  /** Asks again and again until the answer is such. */
  async untilAnswer(name: string, isWanted: (answer: string) => boolean, speed = USUAL_SPEED): Promise<void> {
    let answer = await this.#ask(name, speed);
    for (let tries = 0; tries < MAX_TRIES && !isWanted(answer); tries += 1) {
      await this.pass(1_000, speed);
      answer = await this.#ask(name, speed);
    }
    expect(answer, name).toSatisfy(isWanted);
  }

  async #ask(name: string, speed: number): Promise<string> {
    let answer: string | undefined;
    const type = name.startsWith('_') ? 'SRV' : 'A';
    void askShort(this.#server ?? { address: '', port: 0 }, name, type).then(
      (found) => {
        answer = found;
      },
      () => {
        answer = 'nothing';
      },
    );
    await this.until(`an answer for ${name}`, () => answer !== undefined, speed);
    return answer ?? '';
  }

  /** Runs a command that asks the server. */
  async run(...words: readonly string[]) {
    let result: Awaited<ReturnType<typeof runToEnd>> | undefined;
    void runToEnd(...words).then((ended) => {
      result = ended;
    });
    await this.until(words.join(' '), () => result !== undefined, 1);
    return result ?? { code: undefined, text: '', errors: '' };
  }

  /** Asks until the history has the reason of such an answer: the server finds it while the name fails. */
  async untilExplained(name: string, isWanted: (answer: string) => boolean, speed?: number): Promise<void> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      await this.untilAnswer(name, isWanted, speed);
      const { outcome, reason } = (await this.explain(name, new Date(this.clock.now()).toISOString()))
        .verdict;
      if (outcome === 'slow' || reason !== undefined) return;
    }
    expect.fail(`${name} has no reason`);
  }

  async explain(name: string, at: string): Promise<PastExplanation> {
    const words = ['explain', `--socket=${this.socket}`, name, `--at=${at}`, '--output=json'];
    const { text, errors } = await this.run(...words);
    expect(errors).toBe('');
    return JSON.parse(text) as PastExplanation;
  }

  /** Switches the only upstream server. */
  async switchUpstream(state: 'on' | 'off'): Promise<void> {
    const words = [
      'control',
      `--socket=${this.socket}`,
      'upstream',
      `127.0.0.1:${this.upstream.port}`,
      state,
    ];
    const { code, errors } = await this.run(...words);
    expect(code, errors).toBe(0);
  }
}

interface PastFault {
  readonly fault: string;
  readonly name: string;
  /** What the command names. */
  readonly verdict: RegExp;
  readonly cause: RegExp;
  readonly end: RegExp;
  readonly speed?: number;
  /** Milliseconds until it is undone. */
  readonly lasts?: number;
  /** Whether the name has no answer before. */
  readonly isNew?: boolean;
  /** Whether an answer shows it. Default: it has no address. */
  readonly fails?: (answer: string) => boolean;
  make(world: World): unknown;
  undo(world: World): unknown;
}

const OF_CLUSTER = 'shop.svc.cluster.local';
/** A cached error does not say whose it is. */
const NO_REPLY = /no upstream server answers: 127\.0\.0\.1:\d+|an upstream server said SERVFAIL/;
/** Of an upstream server that replied all the time. */
const NO_CHANGE = /^$/;
const FAILING = /^(?:upstream server 127\.0\.0\.1:\d+ is failing.*)?$/;
const RECOVERED = /^(?:upstream server 127\.0\.0\.1:\d+ replies again)?$/;

const FAULTS: readonly PastFault[] = [
  {
    fault: 'a service that was deleted',
    name: `cart.${OF_CLUSTER}`,
    verdict: /there is no service "cart" in namespace shop/,
    cause: /^service shop\/cart was removed$/,
    end: /^service shop\/cart was added$/,
    make: ({ double }) => double.delete('Service', 'cart', 'shop'),
    undo: ({ double }) => double.put(service('cart', { clusterIP: '10.96.0.20' })),
  },
  {
    fault: 'a namespace that was deleted with its service',
    name: 'desk.office.svc.cluster.local',
    verdict: /there is no namespace "office"/,
    cause: /^service office\/desk was removed$/,
    end: /^service office\/desk was added$/,
    make: ({ double }) => {
      double.delete('Service', 'desk', 'office');
      double.delete('Namespace', 'office');
    },
    undo: ({ double }) => {
      double.put(OFFICE);
      double.put(DESK);
    },
  },
  {
    fault: 'pods that stopped to be ready',
    name: `db.${OF_CLUSTER}`,
    verdict: /service shop\/db has 2 endpoints that are not ready/,
    cause: /^service shop\/db has 0 ready endpoints, 2 before; 2 are not ready$/,
    end: /^service shop\/db has 2 ready endpoints, 0 before$/,
    make: ({ double }) =>
      double.put(
        slice(
          'db',
          READY.map((pod) => ({ ...pod, ready: false })),
        ),
      ),
    undo: ({ double }) => double.put(slice('db', READY)),
  },
  {
    fault: 'endpoints that were deleted',
    name: `queue.${OF_CLUSTER}`,
    verdict: /headless service shop\/queue has no ready endpoint/,
    cause: /^service shop\/queue has 0 ready endpoints, 2 before$/,
    end: /^service shop\/queue has 2 ready endpoints, 0 before$/,
    make: ({ double }) => double.delete('EndpointSlice', 'queue-1', 'shop'),
    undo: ({ double }) => double.put(slice('queue', READY)),
  },
  {
    fault: 'a member of a StatefulSet that was gone',
    name: `db-1.lake.${OF_CLUSTER}`,
    verdict: /service shop\/lake has no endpoint "db-1"/,
    cause: /^service shop\/lake has 1 ready endpoints, 2 before$/,
    end: /^service shop\/lake has 2 ready endpoints, 1 before$/,
    make: ({ double }) => double.put(slice('lake', READY.slice(0, 1))),
    undo: ({ double }) => double.put(slice('lake', READY)),
  },
  {
    fault: 'a port that got another name',
    name: `_http._tcp.till.${OF_CLUSTER}`,
    verdict: /service shop\/till has no port "_http\._tcp"/,
    cause: /^service shop\/till was changed$/,
    end: /^service shop\/till was changed$/,
    make: ({ double }) =>
      double.put(
        service('till', { clusterIP: '10.96.0.21', ports: [{ name: 'web', port: 80, protocol: 'TCP' }] }),
      ),
    undo: ({ double }) => double.put(service('till', { clusterIP: '10.96.0.21' })),
  },
  {
    fault: 'a service that became headless, without endpoints',
    name: `mail.${OF_CLUSTER}`,
    verdict: /headless service shop\/mail has no ready endpoint/,
    cause: /^service shop\/mail was changed$/,
    end: /^service shop\/mail was changed$/,
    make: ({ double }) => double.put(service('mail', { clusterIP: 'None' })),
    undo: ({ double }) => double.put(service('mail', { clusterIP: '10.96.0.22' })),
  },
  {
    fault: 'an ExternalName that led back to itself',
    name: `ring.${OF_CLUSTER}`,
    verdict:
      /service shop\/ring is an ExternalName for ring\.shop\.svc\.cluster\.local, which leads back to it/,
    cause: /^service shop\/ring was changed$/,
    end: /^service shop\/ring was changed$/,
    make: ({ double }) =>
      double.put(service('ring', { type: 'ExternalName', externalName: `ring.${OF_CLUSTER}` })),
    undo: ({ double }) =>
      double.put(service('ring', { type: 'ExternalName', externalName: 'www.example.com' })),
  },
  {
    fault: 'an ExternalName without an address',
    name: `pay.${OF_CLUSTER}`,
    verdict: /an upstream server said NXDOMAIN|which has no address/,
    cause: /^service shop\/pay was changed$/,
    end: /^service shop\/pay was changed$/,
    make: ({ double }) =>
      double.put(service('pay', { type: 'ExternalName', externalName: 'nowhere.invalid' })),
    undo: ({ double }) =>
      double.put(service('pay', { type: 'ExternalName', externalName: 'www.example.com' })),
  },
  {
    fault: 'an upstream server that was gone',
    name: 'gone.example.com',
    verdict: NO_REPLY,
    cause: /upstream server 127\.0\.0\.1:\d+ is (?:failing|silent|down)/,
    end: /^upstream server 127\.0\.0\.1:\d+ replies again$/,
    make: ({ upstream }) => upstream.stop(),
    undo: ({ upstream }) => upstream.startAgain(),
  },
  {
    fault: 'an upstream server that was silent',
    name: 'silent.example.com',
    verdict: NO_REPLY,
    cause: /upstream server 127\.0\.0\.1:\d+ is (?:failing|silent|down)/,
    end: /^upstream server 127\.0\.0\.1:\d+ replies again$/,
    make: ({ faults }) => {
      faults.isSilent = true;
    },
    undo: ({ faults }) => {
      faults.isSilent = false;
    },
  },
  {
    fault: 'an upstream server that failed',
    name: 'failed.example.com',
    verdict: /an upstream server said SERVFAIL/,
    cause: FAILING,
    end: RECOVERED,
    make: ({ faults }) => {
      faults.rcode = RCODE.SERVFAIL;
    },
    undo: ({ faults }) => {
      faults.rcode = undefined;
    },
  },
  {
    fault: 'an upstream server that refused us',
    name: 'refused.example.com',
    verdict: /an upstream server said REFUSED|no upstream server answers/,
    cause: FAILING,
    end: RECOVERED,
    make: ({ faults }) => {
      faults.rcode = RCODE.REFUSED;
    },
    undo: ({ faults }) => {
      faults.rcode = undefined;
    },
  },
  {
    fault: 'a name that the upstream server denied',
    name: 'denied.example.com',
    verdict: /an upstream server said NXDOMAIN/,
    cause: NO_CHANGE,
    end: NO_CHANGE,
    make: ({ faults }) => faults.denied.add('denied.example.com.'),
    undo: ({ faults }) => faults.denied.clear(),
  },
  {
    fault: 'an upstream server that somebody switched off',
    name: 'off.example.com',
    verdict: /the name is not forwarded/,
    cause: /^upstream server 127\.0\.0\.1:\d+ was switched off$/,
    end: /^upstream server 127\.0\.0\.1:\d+ (?:replies|is asked) again$/,
    make: (world) => world.switchUpstream('off'),
    undo: (world) => world.switchUpstream('on'),
  },
  {
    fault: 'a stub domain with a server that is not there',
    name: 'www.corp.test',
    verdict: NO_REPLY,
    cause: /^another configuration is in force: .*corp\.test/,
    end: /^another configuration is in force: .*corp\.test/,
    make: async ({ config }) =>
      await config.write({
        stubDomains: JSON.stringify({ 'corp.test': [`127.0.0.1:${await findFreePort()}`] }),
      }),
    undo: async ({ config }) => await config.write({}),
  },
  {
    fault: 'an upstream server that was slow',
    name: 'slow.example.com',
    verdict: /was slow \d+ times? for 1 client: up to \d\.\d s/,
    cause: /^(?:finding upstream-slow: .*|upstream server \S+ is failing.*)?$/,
    end: /^(?:finding ended: upstream-slow.*|upstream server \S+ replies again)?$/,
    speed: 1,
    fails: isGood,
    make: ({ faults }) => {
      faults.delay = 1_500;
    },
    undo: ({ faults }) => {
      faults.delay = 0;
    },
  },
  {
    fault: 'a configuration with an error, in which a name was to be',
    name: 'new.example.com',
    verdict: /an upstream server said NXDOMAIN/,
    cause: /^finding config-rejected: the latest configuration is not in force: .*stubDomains/,
    end: /^(?:finding ended: config-rejected|another configuration is in force)/,
    lasts: 20 * SECOND,
    make: async (world) => {
      world.faults.denied.add('new.example.com.');
      await world.config.write({ stubDomains: '["example.com"]' });
      await world.until('the configuration to be rejected', () => world.rejected.length > 0);
    },
    undo: async ({ config, faults }) => {
      faults.denied.clear();
      await config.write({});
    },
  },
  {
    fault: 'a service that was added while the API server was away',
    name: `late.${OF_CLUSTER}`,
    isNew: true,
    verdict: /there is no service "late" in namespace shop/,
    cause: /^(?:services|endpoints) are not followed: /,
    end: /^(?:service shop\/late was added|(?:services|endpoints) are followed again)$/,
    lasts: 10 * SECOND,
    make: async ({ double }) => {
      await double.stop();
      double.put(service('late', { clusterIP: '10.96.0.29' }));
    },
    undo: ({ double }) => double.restart(),
  },
  {
    fault: 'a server that started while the API server was away',
    name: `cart.${OF_CLUSTER}`,
    verdict: /the cluster is not listed yet/,
    cause:
      /^(?:the server started: version test|the server stops|(?:services|endpoints) are not followed: .*)$/,
    end: /^the names of cluster\.local\. are known$/,
    make: async (world) => {
      await world.double.stop();
      await world.stop();
      await world.start(false);
    },
    undo: ({ double }) => double.restart(),
  },
];

/** Makes and undoes all of them. @returns when each was there */
async function makeFaults(world: World): Promise<ReadonlyMap<PastFault, string>> {
  const times = new Map<PastFault, string>();
  for (const fault of FAULTS) {
    const { name, speed, lasts = LASTS, fails = (answer: string) => !isGood(answer) } = fault;
    // A cached answer of another server would outlive the fault.
    if (name.endsWith(OF_CLUSTER) && fault.isNew !== true) await world.untilAnswer(name, isGood, speed);
    await fault.make(world);
    await world.untilAnswer(name, fails, speed);
    // Its client tries again.
    await world.pass(lasts, speed);
    await world.untilExplained(name, fails, speed);
    times.set(fault, new Date(world.clock.now()).toISOString());
    await fault.undo(world);
    await world.untilAnswer(name, isGood, speed);
    await world.pass(3 * MINUTE, FAST);
  }
  return times;
}

/** An address, or the port of a service. */
function isGood(answer: string): boolean {
  return /^\d/.test(answer);
}

describe('fifteen minutes later, one command', () => {
  let world: World;
  let times: ReadonlyMap<PastFault, string>;

  beforeAll(async () => {
    world = await World.open();
    // The first failure loads what explains failures.
    await world.untilExplained(`nothing.${OF_CLUSTER}`, (answer) => answer === 'NXDOMAIN');
    times = await makeFaults(world);
    await world.pass(15 * MINUTE, FAST);
  }, 600_000);
  afterAll(endAllPrograms);

  it.each(FAULTS.map((fault) => [fault.fault, fault] as const))('names %s', async (_, fault) => {
    const { verdict, episodes } = await world.explain(fault.name, times.get(fault) ?? '');
    expect(verdict.sentence).toMatch(fault.verdict);
    expect(episodes[0]?.cause?.sentence ?? '').toMatch(fault.cause);
    expect(episodes[0]?.end?.sentence ?? '').toMatch(fault.end);
  });

  it('lists all of them', async () => {
    const { text } = await world.run('doctor', `--socket=${world.socket}`, '--since=24h', '--output=json');
    expect((JSON.parse(text) as PastDiagnosis).kind).toBe('PastDiagnosis');
  });
});
