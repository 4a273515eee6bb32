/**
 * A forwarder releases the servers of former plans, even if readers queried them too.
 */
import { silentLog } from '@portolan/kernel/base/log.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { Forwarder } from '@portolan/kernel/forward/forwarder.ts';
import type { ForwardedRoute, RouteTerms } from '@portolan/kernel/forward/reader-path/linked-forwarder.ts';
import { ReaderPath } from '@portolan/kernel/forward/reader-path/reader-path.ts';
import type { Transport } from '@portolan/kernel/forward/transport/transport.ts';
import { expect, it } from 'vitest';
import { planFor } from '../forward/forwarder-on-loopback.ts';
import { collectGarbage } from './heap.ts';

const CHANGES = 20;
/** The present one, and the one that readers may ask until they have the present plan. */
const KEPT = 2;
const READER = 0;
const CLIENTS = 0;

const TERMS: RouteTerms = {
  exceptions: [],
  minLabels: 1,
  believesDenials: true,
  servesStaleAtOnce: false,
  form: {
    kind: 'as-sent',
    caching: undefined,
    rotates: false,
    flags: { clear: 0, set: 0 },
    dropsOpt: false,
  },
  cacheView: undefined,
  outcomes: {
    forwarded: 0,
    byPath: false,
    kept: { positive: 0, negative: 0 },
    repeated: { positive: 0, negative: 0 },
  },
};

class ChangingForwarder {
  readonly #clock = new ManualClock();
  readonly path = new ReaderPath(1, this.#clock);
  readonly #transports: WeakRef<Transport>[] = [];
  readonly #forwarder = new Forwarder(makePlan(0), {
    clock: this.#clock,
    log: silentLog,
    resolveName: () => Promise.reject(new Error('no names here')),
    connect: () => this.#connect(),
  });
  readonly #group: number;

  /** @param terms undefined: readers forward nothing */
  constructor(terms: RouteTerms | undefined) {
    const link = this.path.link(this.#forwarder);
    if (link === undefined) throw new Error('no room for a forwarder');
    this.#group = link.group;
    const route: ForwardedRoute = { terms: () => terms, told() {}, observe() {}, keep() {} };
    link.open(route);
  }

  #connect(): Transport {
    const transport: Transport = {
      direct: {
        stream: undefined,
        peer: { address: '127.0.0.1', port: 53 },
        takeOver() {
          throw new Error('nothing is taken over');
        },
      },
      ask: () => ({ overdue() {}, cancel() {} }),
      dropped: { strange: 0, otherQuestion: 0, otherCase: 0 },
      close() {},
    };
    this.#transports.push(new WeakRef(transport));
    return transport;
  }

  /** So many queries more of readers are under way. */
  run(more: number): void {
    this.path.words.addRunning(READER, this.#group, CLIENTS, more);
    this.path.drain();
  }

  /** Changes the plan to other servers. */
  change(index: number): void {
    this.#forwarder.change(makePlan(index));
  }

  advance(milliseconds: number): void {
    this.#clock.advance(milliseconds);
  }

  /** How many servers there still are, of those that plans have brought. */
  async countServers(): Promise<number> {
    await collectGarbage();
    return this.#transports.filter((transport) => transport.deref() !== undefined).length;
  }
}

const makePlan = (index: number) => planFor(['127.0.0.1:53'], { udpSize: 1232 + index });

it('where readers ask them', async () => {
  const changing = new ChangingForwarder(TERMS);
  for (let index = 1; index <= CHANGES; index += 1) changing.change(index);
  expect(await changing.countServers()).toBeLessThanOrEqual(KEPT);
});

it('where readers do not', async () => {
  const changing = new ChangingForwarder(undefined);
  for (let index = 1; index <= CHANGES; index += 1) changing.change(index);
  expect(await changing.countServers()).toBeLessThanOrEqual(KEPT);
});

it('whose queries were under way when the plan changed', async () => {
  const changing = new ChangingForwarder(TERMS);
  for (let index = 1; index <= CHANGES; index += 1) {
    changing.run(1);
    changing.change(index);
    changing.run(-1);
  }
  changing.change(CHANGES + 1);
  expect(await changing.countServers()).toBeLessThanOrEqual(KEPT);
});

it('although some query is under way at all times', async () => {
  const changing = new ChangingForwarder(TERMS);
  changing.run(1);
  for (let index = 1; index <= CHANGES; index += 1) {
    changing.change(index);
    changing.advance(60_000);
  }
  expect(await changing.countServers()).toBeLessThanOrEqual(KEPT);
});
