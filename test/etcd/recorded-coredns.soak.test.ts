/**
 * Compares the plugin `etcd` with the recorded answers of CoreDNS's plugin from the same keys, with a real etcd: by the chain, and
 * by the table if that has an answer.
 */
import { decodeMessage, encodeMessage } from '@portolan/dns/message.ts';
import { parseType, rcodeName } from '@portolan/dns/mnemonics.ts';
import { parseName, ROOT, toKey } from '@portolan/dns/name.ts';
import { CLASS, type Question, RCODE, type ResourceRecord } from '@portolan/dns/types.ts';
import { EtcdPlugin } from '@portolan/etcd/plugins/etcd/etcd-plugin.ts';
import type { CoreDnsEtcdOptions } from '@portolan/etcd/plugins/etcd/options.ts';
import { EtcdClient } from '@portolan/etcd/source/client/etcd-client.ts';
import { endOfPrefix } from '@portolan/etcd/source/client/messages.ts';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { type Answer, toReply } from '@portolan/kernel/chain/answer.ts';
import type { Chain } from '@portolan/kernel/chain/handler.ts';
import { Query } from '@portolan/kernel/chain/query.ts';
import { QUERY_HEADER } from '@portolan/kernel/chain/testing/queries.ts';
import { TableReader } from '@portolan/kernel/table/reader.ts';
import { DEFAULT_VIEW, DEFAULT_VIEW_SETTINGS } from '@portolan/kernel/table/types.ts';
import { TableWriter } from '@portolan/kernel/table/writer.ts';
import { makeQuery } from '@portolan/testing/client/ask.ts';
import { expect, it, onTestFinished } from 'vitest';
import { describeWithTool } from '../support/tools.ts';
import { type EtcdCluster, startEtcd } from './etcd-server.ts';
import { answerOutside, CASES, describeRecord, type RecordedAnswer, type RecordedCase } from './recorded.ts';
import { showHandler } from './show-handler.ts';

const zone = (text: string) => toKey(parseName(text));
const MAIN = ['skydns.test.', '10.in-addr.arpa.', '8.b.d.0.1.0.0.2.ip6.arpa.', 'other.test.'].map(zone);
const SKYDNS = [zone('skydns.test.')];

/** The blocks of the Corefile that CoreDNS ran with. */
const SERVERS: Readonly<Record<string, Partial<CoreDnsEtcdOptions>>> = {
  main: { zones: MAIN },
  'path-other': { path: '/other' },
  fallthrough: { fallthrough: [ROOT] },
  'lease-bounds': { minLease: 100, maxLease: 600 },
  'zone-argument': { path: 'skydns', fallthrough: [zone('sub.skydns.test.')] },
};
const CLIENT = { address: '127.0.0.1', port: 5353, transport: 'tcp' } as const;

interface Outcome {
  readonly rcode: string;
  readonly answer: readonly string[];
  readonly authority: readonly string[];
  readonly additional: readonly string[];
}

/** The outside world. */
const forward: Chain = ({ question }) => {
  const { rcode, records: answers } = answerOutside(question.name, question.type);
  return {
    kind: 'forwarded',
    rcode,
    authoritative: false,
    truncated: false,
    authenticData: false,
    answers,
    authorities: [],
    additionals: [],
    memory: undefined,
  };
};
const refuse: Chain = () => ({ kind: 'refused' });

/** A plugin with its table, following an etcd. */
class Server {
  readonly #plugin: EtcdPlugin;
  readonly #behind: Chain;
  readonly #table = new TableWriter({ readers: 1, reservation: 2 ** 26 });
  readonly #reader: TableReader;

  constructor(etcd: EtcdCluster, options: Partial<CoreDnsEtcdOptions>) {
    const whole: CoreDnsEtcdOptions = {
      kind: 'coredns',
      zones: SKYDNS,
      etcd: etcd.settings,
      path: '/skydns',
      minLease: 30,
      maxLease: 86_400,
      fallthrough: [],
      aliasesBesideText: false,
      snapshot: undefined,
      ...options,
    };
    const dependencies = { table: this.#table, clock: systemClock, log: silentLog };
    const lookUp: Chain = (query) => this.#plugin.handler.handle(query, forward);
    this.#behind = options.fallthrough === undefined ? refuse : forward;
    this.#plugin = new EtcdPlugin(whole, {
      ...dependencies,
      lookUp,
      server: 'dns://:53',
      metrics: new MetricRegistry(),
    });
    const { handler } = this.#plugin;
    showHandler(this.#table, handler);
    this.#reader = new TableReader(this.#table.memory, 0);
  }

  get unknownLeases(): number {
    return this.#plugin.stats().unknownLeases;
  }

  async start(): Promise<void> {
    onTestFinished(async () => {
      this.#table.changeView(DEFAULT_VIEW, DEFAULT_VIEW_SETTINGS);
      await this.#plugin.stop();
    });
    await this.#plugin.start();
    await waitUntil('etcd is read', () => this.#plugin.isReady());
  }

  async ask(question: Question): Promise<Outcome> {
    const query = new Query(question, { header: QUERY_HEADER, question, edns: undefined }, CLIENT);
    const answer: Answer = await this.#plugin.handler.handle(query, this.#behind);
    if (answer.kind === 'drop') throw new Error('no answer');
    const { rcode = RCODE.NOERROR, answers = [], authorities = [], additionals = [] } = toReply(answer);
    return describe(rcode, answers, authorities, additionals);
  }

  /** Undefined: the table leaves it to the chain. */
  askTable(question: Question): Outcome | undefined {
    const message = encodeMessage({ ...makeQuery(question.name, 'A'), questions: [question] });
    const packet = new Uint8Array(65_600);
    packet.set(message);
    this.#reader.enter();
    const length = this.#reader.answer(packet, 0, message.length, 65_535, 'tcp', DEFAULT_VIEW);
    this.#reader.leave();
    if (length <= 0) return undefined;
    const { header, answers, authorities, additionals } = decodeMessage(packet.slice(0, length));
    // A TTL of more than 31 bits is read as none (RFC 2181 section 8).
    if (answers.some(({ ttl }) => ttl === 0)) return undefined;
    return describe(header.rcode, answers, authorities, additionals);
  }
}

function describe(
  rcode: number,
  ...[answers, authorities, additionals]: readonly (readonly ResourceRecord[])[]
): Outcome {
  const lines = (records: readonly ResourceRecord[] = []) => records.map(describeRecord);
  return {
    rcode: rcodeName(rcode),
    answer: lines(answers),
    authority: lines(authorities),
    additional: lines(additionals),
  };
}

async function write(
  client: EtcdClient,
  { keys, leases = {} }: RecordedCase,
  sentinel: string,
): Promise<void> {
  const all = Buffer.from('/');
  const wipe = { kind: 'delete', key: all, end: endOfPrefix(all) } as const;
  await client.transact({ conditions: [], operations: [wipe] });
  for (const [key, value] of [...Object.entries(keys), [sentinel, '{"host":"192.0.2.200"}'] as const]) {
    const seconds = leases[key];
    const lease = seconds === undefined ? {} : { lease: (await client.grantLease(seconds)).id };
    const put = { kind: 'put', key: Buffer.from(key), value: Buffer.from(value), ...lease } as const;
    await client.transact({ conditions: [], operations: [put] });
  }
}

async function remove(client: EtcdClient, key: string): Promise<void> {
  const operation = { kind: 'delete', key: Buffer.from(key) } as const;
  await client.transact({ conditions: [], operations: [operation] });
}

/** Seconds that a slow machine may take to ask. */
const PATIENCE = 300;

/** The TTLs of records may be lower, as time has passed. */
function bringNear(got: Outcome, { answer }: RecordedAnswer): Outcome {
  const near = got.answer.map((line, index) => {
    const [name, ttl, ...rest] = line.split(' ');
    const wanted = Number(answer[index]?.split(' ')[1]);
    const isNear = Number(ttl) <= wanted && Number(ttl) >= wanted - PATIENCE;
    return [name, isNear ? wanted : ttl, ...rest].join(' ');
  });
  return { ...got, answer: near };
}

function isEqual(got: Outcome, wanted: RecordedAnswer, isTimed: boolean): boolean {
  const near = isTimed ? bringNear(got, wanted) : got;
  // It was asked by UDP: what did not fit was left out.
  const whole = wanted.flags.includes('tc')
    ? { ...near, answer: near.answer.slice(0, wanted.answer.length) }
    : near;
  return JSON.stringify(whole) === JSON.stringify(pick(wanted));
}

function pick({ rcode, answer, authority, additional }: RecordedAnswer): Outcome {
  return { rcode, answer, authority, additional };
}

describeWithTool(['etcd', 'etcdctl'], "CoreDNS's answers from the keys of etcd", () => {
  it.each(Object.keys(SERVERS))(
    'are given: %s',
    async (name) => {
      const etcd = await startEtcd();
      const client = new EtcdClient(etcd.settings, systemClock);
      onTestFinished(() => client.close());
      const server = new Server(etcd, SERVERS[name] ?? {});
      await server.start();
      const differences: string[] = [];
      let fromTable = 0;
      let count = 0;
      for (const [index, each] of CASES.filter((one) => one.server === name).entries()) {
        const prefix = name === 'path-other' ? '/other' : '/skydns';
        await write(client, each, `${prefix}/test/skydns/zz-sentinel-${index}/x`);
        const sentinel = { name: parseName(`zz-sentinel-${index}.skydns.test.`), type: 1, class: CLASS.IN };
        await waitUntil(`case ${each.name}`, () => server.askTable(sentinel)?.rcode === 'NOERROR');
        await remove(client, `${prefix}/test/skydns/zz-sentinel-${index}/x`);
        await waitUntil(`case ${each.name}`, () => server.askTable(sentinel)?.rcode !== 'NOERROR');
        await waitUntil('leases are known', () => server.unknownLeases === 0);
        for (const { ask, answer } of each.steps) {
          const type = parseType(ask.type);
          // Other classes, and names outside, are no business of the plugin.
          if (type === undefined || ask.class !== undefined || ask.name === 'config') continue;
          const question = { name: parseName(ask.name), type, class: CLASS.IN };
          count += 1;
          const note = (what: string, got: Outcome) => {
            if (!isEqual(got, answer, each.ttlWithin !== undefined))
              differences.push(
                `${each.name} ${ask.name} ${ask.type} by the ${what}: ${JSON.stringify(got)}\n want ${JSON.stringify(pick(answer))}`,
              );
          };
          note('chain', await server.ask(question));
          const published = server.askTable(question);
          if (published === undefined) continue;
          fromTable += 1;
          note('table', published);
        }
      }
      expect(differences).toEqual([]);
      expect(count).toBeGreaterThan(0);
      expect(fromTable).toBeGreaterThan(0);
    },
    60_000,
  );
});
