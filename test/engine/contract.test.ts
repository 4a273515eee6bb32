/**
 * The contract between handlers and table: a handler acts only on questions that it declares, the table answers as the chain does,
 * and readers may forward a question only if the chain would send it upstream unchanged.
 *
 * Engines with random settings get random questions, and change to other settings in between.
 */
import { decodeMessage, encodeMessage } from '@portolan/dns/message.ts';
import { typeName } from '@portolan/dns/mnemonics.ts';
import { countLabels, isWithin, parseName, toKey } from '@portolan/dns/name.ts';
import { CLASS, type Message, type NameKey, TYPE } from '@portolan/dns/types.ts';
import { DNSMASQ_HOSTS } from '@portolan/frontends/dnsmasq/settings/hosts-manner.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import { addressesAnsweredBefore, type Handler, minLabelsForwarded } from '@portolan/kernel/chain/handler.ts';
import { isWithinAny, type Match } from '@portolan/kernel/chain/match.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import { makeQuery, QUERY_HEADER } from '@portolan/kernel/chain/testing/queries.ts';
import { Engine } from '@portolan/kernel/engine/engine.ts';
import { SERVE_CACHING } from '@portolan/kernel/forward/caching/caching-rules.ts';
import {
  DEFAULT_FORWARD_PLAN,
  defaultRule,
  type ForwardRule,
} from '@portolan/kernel/forward/forward-plan.ts';
import { parseUpstream } from '@portolan/kernel/forward/upstream-address.ts';
import type { EnginePlan } from '@portolan/kernel/plan/engine-plan.ts';
import { VERDICT } from '@portolan/kernel/table/types.ts';
import type { ClusterObject } from '@portolan/kubernetes/objects/objects.ts';
import { ProcessCluster } from '@portolan/kubernetes/plugins/kubernetes/process-cluster.ts';
import { findDialect } from '@portolan/kubernetes/publish/find-dialect.ts';
import type { LocalNamesOptions } from '@portolan/plugins/local-names/options.ts';
import type { RuleAction } from '@portolan/plugins/local-names/question-rules.ts';
import {
  type LastOptions,
  writeClusterPlugins,
  writeFirstPlugins,
  writeLastPlugins,
  writeLocalNames,
  writePlainEngine,
} from '@portolan/server/plan/plain-block.ts';
import { hostsOnly } from '@portolan/sources/local/local-plan.ts';
import { UpstreamNames } from '@portolan/testing/upstream/upstream-names.ts';
import { VirtualUpstream } from '@portolan/testing/upstream/virtual-upstream.ts';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import '../support/load-all-plugins.ts';

const key = (text: string): NameKey => toKey(parseName(text));
const DOMAIN = key('cluster.local.');
const CLIENT = { address: '192.0.2.77', port: 5353, transport: 'tcp' } as const;

const OBJECTS: readonly ClusterObject[] = [
  { kind: 'Namespace', name: 'blue' },
  {
    kind: 'Service',
    namespace: 'blue',
    name: 'web',
    ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
    address: { kind: 'clusterIPs', addresses: ['10.96.0.1', 'fd00::1'] },
  },
  {
    kind: 'Service',
    namespace: 'blue',
    name: 'out',
    ports: [],
    address: { kind: 'externalName', name: 'www.example.com' },
  },
];

const NAMES = [
  'web.blue.svc.cluster.local.',
  '_http._tcp.web.blue.svc.cluster.local.',
  'out.blue.svc.cluster.local.',
  'missing.blue.svc.cluster.local.',
  'web.blue.fed.svc.cluster.local.',
  '1-2-3-4.blue.pod.cluster.local.',
  'db.corp.cluster.local.',
  'corp.cluster.local.',
  '1.0.96.10.in-addr.arpa.',
  '9.9.9.10.in-addr.arpa.',
  'www.example.com.',
  'ads.example.com.',
  'plain.',
  'home.',
  'cluster.local.',
  '.',
];
const TYPES = [
  TYPE.A,
  TYPE.AAAA,
  TYPE.SRV,
  TYPE.PTR,
  TYPE.TXT,
  TYPE.CNAME,
  TYPE.SOA,
  TYPE.HINFO,
  TYPE.ANY,
  TYPE.AXFR,
];

const routes = fc.array(
  fc.record({
    scope: fc.constantFrom(
      { kind: 'domain', name: key('ads.example.com.') } as const,
      { kind: 'domain', name: key('home.') } as const,
      { kind: 'suffix', text: 'ample.com' } as const,
      { kind: 'plain-names' } as const,
    ),
    action: fc.constantFrom<RuleAction>(
      { kind: 'local' },
      { kind: 'null-address' },
      { kind: 'address', address: '10.0.0.9' },
      { kind: 'forward' },
    ),
  }),
  { maxLength: 3 },
);

const stubZones = fc.subarray(['corp.cluster.local.', 'example.com.', 'svc.cluster.local.']);

const settings = fc.record({
  hasCluster: fc.boolean(),
  dialect: fc.constantFrom('coredns', 'kube-dns'),
  pods: fc.constantFrom('disabled', 'insecure'),
  routes,
  stubZones,
  federations: fc.subarray(['fed', 'other']),
  keepsPlainNames: fc.boolean(),
  keepsPrivateReverse: fc.boolean(),
  keepsWindowsQuestions: fc.boolean(),
  records: fc.subarray([
    'www.example.com.',
    'web.blue.svc.cluster.local.',
    'db.corp.cluster.local.',
    'home.',
  ]),
  filteredTypes: fc.subarray<number>([TYPE.AAAA, TYPE.SRV], { maxLength: 1 }),
});
type Settings = typeof settings extends fc.Arbitrary<infer Value> ? Value : never;

const questions = fc.array(fc.tuple(fc.constantFrom(...NAMES), fc.constantFrom(...TYPES)), {
  minLength: 30,
  maxLength: 30,
});

const localRecord = (name: string) => ({
  name: parseName(name),
  class: CLASS.IN,
  ttl: 5,
  data: { kind: 'TXT', strings: [Buffer.from(name)] } as const,
});

function makePlan(given: Settings): EnginePlan {
  const { keepsPlainNames, keepsPrivateReverse, keepsWindowsQuestions, stubZones: stubs } = given;
  const server = [parseUpstream('192.0.2.53')];
  const rules: readonly ForwardRule[] = [
    ...stubs.map(
      (zone): ForwardRule => ({ ...defaultRule(server), names: [{ kind: 'domain', name: key(zone) }] }),
    ),
    defaultRule(server),
  ];
  const settings: LocalNamesOptions['settings'] = {
    names: { ...hostsOnly(5), records: given.records.map(localRecord) },
    hostsPaths: [],
    manner: DNSMASQ_HOSTS,
    questions: {
      routes: given.routes,
      keepsPlainNames,
      keepsPrivateReverse,
      keepsWindowsQuestions,
      ttl: 9,
    },
    replies: {
      bogusNxdomain: [],
      aliases: [],
      rebind: { stops: false, allowsLocalhost: false, allowedDomains: [] },
    },
  };
  const last: LastOptions = {
    cache: { kind: 'own', caching: SERVE_CACHING, serveStale: undefined },
    forward: { ...DEFAULT_FORWARD_PLAN, loopDetection: false, rules },
    filteredTypes: new Set(given.filteredTypes),
  };
  const local = writeLocalNames(settings, undefined);
  const zone = {
    domain: DOMAIN,
    dialect: findDialect(given.dialect),
    pods: given.pods,
    ttl: 30,
    endpointRanges: undefined,
    ownAddresses: ['192.0.2.2'],
  };
  const federations = given.federations.map((name) => ({ name, domain: key(`${name}.example.`) }));
  return writePlainEngine({
    clients: undefined,
    plugins: [
      ...writeFirstPlugins(undefined),
      ...(given.hasCluster
        ? writeClusterPlugins({ zone, federations, local, last })
        : [local, ...writeLastPlugins(last)]),
    ],
    responses: {
      recursionAvailable: true,
      rotatesAddresses: true,
      domain: given.hasCluster ? DOMAIN : undefined,
    },
    cache: { octets: 2 ** 20, entries: 0 },
    udpSize: 1232,
  });
}

class Subject {
  readonly clock = new ManualClock();
  readonly upstream = new VirtualUpstream(this.clock, new UpstreamNames().react);
  readonly engine: Engine;

  constructor(given: Settings) {
    this.engine = new Engine(makePlan(given), {
      readers: 0,
      version: 'test',
      connect: () => this.upstream,
      clock: this.clock,
      log: silentLog,
    });
    const cluster = this.engine.find(ProcessCluster)?.cluster;
    if (cluster === undefined) return;
    const { services, endpoints, namespaces, pods } = cluster;
    for (const store of [services, endpoints, namespaces, pods]) store.listStarted();
    for (const object of OBJECTS) {
      if (object.kind === 'Service') services.upsert(object);
      else if (object.kind === 'Namespace') namespaces.upsert(object);
    }
    for (const store of [services, endpoints, namespaces, pods]) store.listCompleted();
    cluster.settle();
  }

  askTable(packet: Uint8Array): Message | undefined {
    const octets = new Uint8Array(65_535);
    octets.set(packet);
    const length = this.engine.reader.answer(octets, 0, packet.length, octets.length, 'tcp');
    return length === VERDICT.ASK ? undefined : decodeMessage(octets.slice(0, length));
  }

  async askChain(packet: Uint8Array): Promise<Message | undefined> {
    let response: Uint8Array | undefined;
    let isDone = false;
    void this.engine.handleQuery(packet, CLIENT).then((octets) => {
      response = octets;
      isDone = true;
    });
    while (!isDone) {
      await new Promise((resolve) => setImmediate(resolve));
      this.clock.advance(0);
    }
    return response && decodeMessage(response);
  }
}

const encodeQuery = (name: string, type: number): Uint8Array =>
  encodeMessage({
    header: QUERY_HEADER,
    questions: [{ name: parseName(name), type, class: CLASS.IN }],
    answers: [],
    authorities: [],
    additionals: [],
    edns: undefined,
  });

const SENTINEL: Answer = { kind: 'records', records: [], additionals: [], authoritative: false };

/** A question that a handler does not state goes to the next one as it is, and so does the answer. */
async function expectPassed(handler: Handler, query: Query): Promise<void> {
  const passed: Query[] = [];
  const answer = await handler.handle(query, (next) => {
    passed.push(next);
    return SENTINEL;
  });
  expect([passed.length, passed[0] === query], handler.name).toEqual([1, true]);
  expect(answer, handler.name).toBe(SENTINEL);
}

const covers = ({ name, types }: Match, asked: NameKey, type: number): boolean => {
  if (types !== 'all' && !types.has(type)) return false;
  if (name.kind === 'any') return true;
  return name.kind === 'exact' ? name.name === asked : isWithin(asked, name.name);
};

/** All that two answers must have in common: sets of addresses may begin anywhere. */
const toComparable = ({ header, answers, authorities }: Message) => ({
  rcode: header.rcode,
  authoritative: header.authoritative,
  answers: answers.map((record) => JSON.stringify(record)).sort(),
  authorities: authorities.map((record) => JSON.stringify({ ...record, ttl: 0 })),
});

/** Whether readers forward a question that the table leaves open. */
function isForReaders(handlers: readonly Handler[], name: NameKey, type: number): boolean {
  const before = addressesAnsweredBefore(handlers);
  if (before === undefined || (type !== TYPE.A && type !== TYPE.AAAA)) return false;
  return !isWithinAny(name, new Set(before)) && countLabels(name) >= minLabelsForwarded(handlers);
}

it('holds for random blocks of handlers, questions and changes', { timeout: 60_000 }, async () => {
  let byTable = 0;
  let forwarded = 0;
  await fc.assert(
    fc.asyncProperty(settings, settings, questions, async (first, second, asked) => {
      const subject = new Subject(first);
      await subject.engine.start();
      // What a running engine changes to keeps its cluster and its filtered types.
      const { hasCluster, dialect, pods, filteredTypes } = first;
      const changed = { ...second, hasCluster, dialect, pods, filteredTypes };
      for (const [index, [name, type]] of asked.entries()) {
        if (index === 15) await subject.engine.change(makePlan(changed));
        const { handlers } = subject.engine;
        const query = makeQuery(name, typeName(type));
        for (const handler of handlers) {
          const { questions: stated } = handler;
          const isStated = stated.includes(query.key, type);
          const isMatched = [...stated.matches()].some((match) => covers(match, query.key, type));
          if (isStated) expect(isMatched || handler.name === 'loop', handler.name).toBe(true);
          else if (handler.answers !== 'modifiers') await expectPassed(handler, query);
        }
        const fromTable = subject.askTable(encodeQuery(name, type));
        const sentBefore = subject.upstream.count;
        const fromChain = await subject.askChain(encodeQuery(name, type));
        const wasForwarded = subject.upstream.count > sentBefore;
        const at = `${name} ${typeName(type)}`;
        if (fromTable === undefined) {
          if (!isForReaders(handlers, query.key, type)) continue;
          forwarded += 1;
          expect(wasForwarded, at).toBe(true);
          continue;
        }
        byTable += 1;
        expect(fromChain && toComparable(fromChain), at).toEqual(toComparable(fromTable));
      }
      subject.engine.stop();
    }),
  );
  // Nothing is proven by questions that none of the ways has answered.
  expect(byTable).toBeGreaterThan(10);
  expect(forwarded).toBeGreaterThan(10);
});
