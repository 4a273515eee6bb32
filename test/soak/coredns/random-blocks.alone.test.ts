/**
 * The contract between handlers and table for server blocks of a Corefile: random plugins with random arguments, random questions, and
 * changes of the Corefile and of the cluster in between. Readers answer as the chain does at the same moment.
 *
 * A reader does not call handlers, so the test also fails if a handler acts on a question that it does not declare.
 */
import { compilePlan } from '@portolan/frontends/coredns/settings/testing/compile-plan.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { reply } from '@portolan/testing/upstream/reply.ts';
import fc from 'fast-check';
import { afterEach, expect, it } from 'vitest';
import { ApiServerDouble } from '../../api-server/api-server.ts';
import { makePacket, ReaderSubject, toComparableMessage } from '../../coredns/reader-subject.ts';
import { namespace, pod, service, slice } from '../../list-watch/harness.ts';

/** Turns of the event loop in which a packet over loopback arrives even on a slow machine. */
const TURNS = 1_000;
const WEB = 'web.default.svc.cluster.local';

const LINES = [
  'errors',
  'loadbalance',
  'bufsize 1232',
  'any',
  'local',
  'minimal',
  'cancel',
  'chaos',
  'nsid me',
  'header {\n response set aa\n }',
  'header {\n query clear rd\n }',
  `rewrite name exact alias.default.svc.cluster.local ${WEB}`,
  `rewrite name exact ${WEB} db.default.svc.cluster.local answer auto`,
  'rewrite name suffix .corp .svc.cluster.local answer auto',
  'rewrite continue name regex (.*)\\.short$ {1}.default.svc.cluster.local',
  'rewrite name prefix we be',
  `rewrite ttl exact ${WEB} 10`,
  'rewrite rcode suffix .cluster.local NXDOMAIN NOERROR',
  'rewrite type AAAA A',
  'template IN AAAA svc.cluster.local {\n rcode NOERROR\n }',
  'template IN A pod.cluster.local {\n match ^1-2\n answer "{{ .Name }} 50 IN A 198.51.100.1"\n fallthrough\n }',
  'template ANY ANY other.test {\n rcode REFUSED\n }',
] as const;
const ACLS = [
  '',
  '',
  'acl svc.cluster.local {\n block type AAAA net *\n }',
  'acl {\n filter type SRV net 192.0.2.0/24\n }',
  'acl test {\n drop net 198.51.100.0/24\n }',
] as const;
const HOSTS = [
  '',
  '',
  `hosts {\n 198.51.100.7 own.test ${WEB}\n 2001:db8::7 own.test\n fallthrough\n }`,
  'hosts own.test {\n 198.51.100.8 own.test\n ttl 9\n }',
  'hosts {\n 10.96.0.10 own.test\n no_reverse\n fallthrough cluster.local\n }',
] as const;
const CLUSTER = [
  'pods disabled',
  'pods insecure',
  'pods verified',
  'ttl 7',
  'fallthrough',
  'fallthrough in-addr.arpa',
  'endpoint_pod_names',
  'ignore empty_service',
  'namespaces default',
] as const;
const CACHES = ['', '', 'cache', 'cache 30 test', 'cache {\n disable denial\n }'] as const;
const ENDS = ['forward', 'whoami', ''] as const;

const block = fc.record({
  lines: fc.subarray([...LINES], { maxLength: 2 }),
  acl: fc.constantFrom(...ACLS),
  hosts: fc.constantFrom(...HOSTS),
  cluster: fc.subarray([...CLUSTER], { maxLength: 3 }),
  cache: fc.constantFrom(...CACHES),
  end: fc.constantFrom(...ENDS),
});
type Block = typeof block extends fc.Arbitrary<infer Value> ? Value : never;

const NAMES = [
  WEB,
  WEB.toUpperCase(),
  `*.${WEB}`,
  `x.${WEB}`,
  `_http._tcp.${WEB}`,
  ...['db', '10-244-0-9.db', 'alias', 'missing', 'outer'].map((name) => `${name}.default.svc.cluster.local`),
  'web.default.corp',
  'web.short',
  'default.svc.cluster.local',
  'cluster.local',
  'local',
  '1-2-3-4.default.pod.cluster.local',
  '10-244-0-9.default.pod.cluster.local',
  '10.0.96.10.in-addr.arpa',
  '9.0.244.10.in-addr.arpa',
  '7.100.51.198.in-addr.arpa',
  'own.test',
  'x.own.test',
  'other.test',
  'many.test',
  'localhost',
  '.',
];
const TYPES = ['A', 'AAAA', 'SRV', 'PTR', 'TXT', 'SOA', 'NS', 'ANY', 'MX', 'DS'];

/** Few questions, so that most of them come again. */
const steps = fc.subarray(NAMES, { minLength: 4, maxLength: 9 }).chain((names) =>
  fc.array(
    fc.record({
      name: fc.constantFrom(...names),
      type: fc.oneof({ weight: 3, arbitrary: fc.constant('A') }, fc.constantFrom(...TYPES)),
      size: fc.constantFrom(undefined, undefined, 4096, 512),
      seconds: fc.constantFrom(0, 0, 0, 0, 2, 40),
      change: fc.constantFrom(...([...Array(16).fill(undefined), 'block', 'cluster'] as const)),
    }),
    { minLength: 40, maxLength: 40 },
  ),
);

class Server {
  readonly #clock = new ManualClock();
  readonly #corefile: (block: Block) => string;
  readonly #api: ApiServerDouble;
  readonly subject: ReaderSubject;
  #address = 10;
  hasCache: boolean;

  constructor(first: Block, api: ApiServerDouble, upstream: LoopbackUpstream) {
    this.#corefile = ({ lines, acl, hosts, cluster, cache, end }) => {
      const kubernetes = ['kubernetes cluster.local in-addr.arpa {', `endpoint ${api.url}`, ...cluster, '}'];
      const last = end === 'forward' ? `forward . ${upstream.address}` : end;
      return ['.:53 {', ...lines, acl, hosts, ...kubernetes, cache, last, '}\n'].join('\n');
    };
    this.#api = api;
    this.hasCache = first.cache !== '';
    this.subject = new ReaderSubject(this.#corefile(first), this.#clock);
  }

  /** Waits for what comes over the network, for which virtual time goes on a little. */
  async during<Value>(work: Promise<Value>): Promise<Value> {
    let isDone = false;
    const ended = work.finally(() => {
      isDone = true;
    });
    while (!isDone) await this.#turn();
    return ended;
  }

  async #turn(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#clock.advance(1);
  }

  pass(seconds: number): void {
    this.#clock.advance(seconds * 1000);
  }

  async changeBlock(other: Block): Promise<void> {
    const { engine } = this.subject;
    const blocks = await this.during(engine.makeBlocks(compilePlan(this.#corefile(other))));
    if (blocks === undefined) throw new Error('no other change came');
    const before = engine.replaceBlocks(blocks);
    this.hasCache = other.cache !== '';
    await this.during(before.stop());
  }

  /** Gives a Service an address that it has not had, and waits until its name is answered. */
  async changeCluster(): Promise<void> {
    this.#address += 1;
    this.#api.put(service('web', `10.96.0.${this.#address}`));
    const reverse = makePacket(`${this.#address}.0.96.10.in-addr.arpa`, 'PTR');
    const isKnown = async () => {
      const response = await this.during(this.subject.askChain(reverse));
      return response?.answers.some(({ data }) => data.kind === 'PTR') === true;
    };
    while (!(await isKnown())) {
      for (let turn = 0; turn < TURNS; turn += 1) await this.#turn();
      // A cache may have kept that there is no such name. Longer pauses would end the watch.
      this.pass(12);
    }
    // A cache of the chain keeps what was said before, where readers look at the nodes.
    this.pass(12);
    // The change is published in steps.
    for (let turn = 0; turn < TURNS; turn += 1) await this.#turn();
  }
}

const makeOpt = (size: number | undefined) =>
  // The type of dns-packet asks for what it does not need.
  size === undefined ? {} : { additionals: [{ type: 'OPT', name: '.', udpPayloadSize: size } as never] };

const withoutTtls = (content: unknown): unknown =>
  JSON.parse(JSON.stringify(content).replace(/\\"ttl\\":\d+/g, ''));

const OBJECTS = [
  namespace('default'),
  service('db', 'None'),
  slice('db-1', 'db', '10.244.0.9'),
  pod('one', '10.244.0.9'),
  {
    kind: 'Service',
    metadata: { name: 'outer', namespace: 'default' },
    spec: { type: 'ExternalName', externalName: 'many.test' },
  },
];

const ended: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0)) await end();
});

it('holds for random server blocks, questions and changes', { timeout: 120_000 }, async () => {
  const upstream = await LoopbackUpstream.start(({ query, send }) => {
    const [question] = query.questions;
    if (question === undefined) return;
    const data = { kind: 'A', address: '192.0.2.7' } as const;
    send(reply(query, { answers: [{ name: question.name, class: 1, ttl: 60, data }] }));
  });
  ended.push(() => upstream.stop());
  const count = { table: 0, changes: 0 };
  await fc.assert(
    fc.asyncProperty(block, block, steps, async (first, second, asked) => {
      const api = await ApiServerDouble.start({ objects: [...OBJECTS, service('web', '10.96.0.10')] });
      const server = new Server(first, api, upstream);
      const { subject } = server;
      try {
        await server.during(subject.engine.start());
        let next = second;
        for (const { name, type, size, seconds, change } of asked) {
          server.pass(seconds);
          if (change === 'cluster') await server.changeCluster();
          if (change === 'block') {
            await server.changeBlock(next);
            next = next === second ? first : second;
          }
          if (change !== undefined) count.changes += 1;
          const packet = makePacket(name, type, makeOpt(size));
          const fromTable = subject.askTable(packet);
          const fromChain = await server.during(subject.askChain(packet));
          if (fromTable === undefined) continue;
          count.table += 1;
          // The cache of a chain counts down the TTLs of the cluster's names too, which are nodes of the table.
          const seen = server.hasCache ? withoutTtls : (content: unknown) => content;
          const expected = fromChain && toComparableMessage(fromChain);
          expect(seen(toComparableMessage(fromTable)), `${name} ${type}`).toEqual(expected && seen(expected));
        }
      } finally {
        subject.stop();
        await api.stop();
      }
    }),
    { numRuns: 20 },
  );
  // Nothing is proven by questions that readers leave to the chain.
  expect(count.table).toBeGreaterThan(50);
  expect(count.changes).toBeGreaterThan(20);
});
