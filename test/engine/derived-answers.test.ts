/**
 * Derived answers in virtual time: with any order of questions and changes, the table never gives an answer from before a change that
 * was complete when the query arrived.
 */
import { decodeMessage, encodeMessage } from '@portolan/dns/message.ts';
import { parseName, toKey } from '@portolan/dns/name.ts';
import { CLASS, type Message, TYPE } from '@portolan/dns/types.ts';
import { DNSMASQ_HOSTS } from '@portolan/frontends/dnsmasq/settings/hosts-manner.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { QUERY_HEADER } from '@portolan/kernel/chain/testing/queries.ts';
import { Engine } from '@portolan/kernel/engine/engine.ts';
import { SERVE_CACHING } from '@portolan/kernel/forward/caching/caching-rules.ts';
import { DEFAULT_FORWARD_PLAN } from '@portolan/kernel/forward/forward-plan.ts';
import type { EnginePlan } from '@portolan/kernel/plan/engine-plan.ts';
import { VERDICT } from '@portolan/kernel/table/types.ts';
import type { ServiceObject } from '@portolan/kubernetes/objects/objects.ts';
import { ProcessCluster } from '@portolan/kubernetes/plugins/kubernetes/process-cluster.ts';
import { findDialect } from '@portolan/kubernetes/publish/find-dialect.ts';
import type { LocalNamesOptions } from '@portolan/plugins/local-names/options.ts';
import {
  writeClusterPlugins,
  writeFirstPlugins,
  writeLocalNames,
  writePlainEngine,
} from '@portolan/server/plan/plain-block.ts';
import { hostsOnly } from '@portolan/sources/local/local-plan.ts';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import '../support/load-all-plugins.ts';

const DOMAIN = toKey(parseName('cluster.local.'));
const CLIENT = { address: '192.0.2.77', port: 5353, transport: 'tcp' } as const;
const NAMES = [
  'web.blue.svc.cluster.local.',
  'x.web.blue.svc.cluster.local.',
  '*.blue.svc.cluster.local.',
  'alias.blue.svc.cluster.local.',
  '1-2-3-4.blue.pod.cluster.local.',
  '1-2-3-4.green.pod.cluster.local.',
  'local.example.',
  'any.rule.example.',
];

const service = (name: string, last: number): ServiceObject => ({
  kind: 'Service',
  namespace: 'blue',
  name,
  ports: [],
  address: { kind: 'clusterIPs', addresses: [`10.96.0.${last}`] },
});
const alias = (target: string): ServiceObject => ({
  kind: 'Service',
  namespace: 'blue',
  name: 'alias',
  ports: [],
  address: { kind: 'externalName', name: target },
});

/** What changes at one step, or what is asked. */
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('ask' as const), name: fc.constantFrom(...NAMES) }) },
  fc.record({ kind: fc.constant('service' as const), last: fc.integer({ min: 1, max: 9 }) }),
  fc.record({ kind: fc.constant('remove' as const) }),
  fc.record({
    kind: fc.constant('alias' as const),
    target: fc.constantFrom('web.blue.svc.cluster.local', 'local.example'),
  }),
  fc.record({ kind: fc.constant('namespace' as const), exists: fc.boolean() }),
  fc.record({ kind: fc.constant('plan' as const), address: fc.constantFrom('10.0.0.1', '10.0.0.2') }),
  fc.record({ kind: fc.constant('wait' as const), milliseconds: fc.constantFrom(1, 1000, 31_000) }),
);

function makePlan(dialect: 'coredns' | 'kube-dns', address: string): EnginePlan {
  const data = { kind: 'A', address } as const;
  const record = { name: parseName('local.example.'), class: CLASS.IN, ttl: 5, data };
  const scope = { kind: 'domain', name: toKey(parseName('rule.example.')) } as const;
  const settings: LocalNamesOptions['settings'] = {
    names: { ...hostsOnly(5), records: [record] },
    hostsPaths: [],
    manner: DNSMASQ_HOSTS,
    questions: {
      routes: [{ scope, action: { kind: 'address', address } }],
      keepsPlainNames: false,
      keepsPrivateReverse: false,
      keepsWindowsQuestions: false,
      ttl: 9,
    },
    replies: {
      bogusNxdomain: [],
      aliases: [],
      rebind: { stops: false, allowsLocalhost: false, allowedDomains: [] },
    },
  };
  const zone = { domain: DOMAIN, dialect: findDialect(dialect), pods: 'insecure', ttl: 30 } as const;
  return writePlainEngine({
    clients: undefined,
    plugins: [
      ...writeFirstPlugins(undefined),
      ...writeClusterPlugins({
        zone: { ...zone, endpointRanges: undefined, ownAddresses: ['192.0.2.2'] },
        federations: [],
        local: writeLocalNames(settings, undefined),
        last: {
          cache: { kind: 'own', caching: SERVE_CACHING, serveStale: undefined },
          forward: { ...DEFAULT_FORWARD_PLAN, loopDetection: false, rules: [] },
          filteredTypes: new Set(),
        },
      }),
    ],
    responses: { recursionAvailable: true, rotatesAddresses: true, domain: DOMAIN },
    cache: { octets: 2 ** 20, entries: 1000 },
    udpSize: 1232,
  });
}

const encodeQuery = (name: string): Uint8Array =>
  encodeMessage({
    header: QUERY_HEADER,
    questions: [{ name: parseName(name), type: TYPE.A, class: CLASS.IN }],
    answers: [],
    authorities: [],
    additionals: [],
    edns: undefined,
  });

const toComparable = ({ header, answers }: Message) => ({
  rcode: header.rcode,
  authoritative: header.authoritative,
  recursionAvailable: header.recursionAvailable,
  answers: answers.map((record) => JSON.stringify(record)).sort(),
});

class Subject {
  readonly clock = new ManualClock();
  readonly engine: Engine;
  readonly #dialect: 'coredns' | 'kube-dns';

  constructor(dialect: 'coredns' | 'kube-dns') {
    this.#dialect = dialect;
    const { clock } = this;
    const dependencies = { readers: 0, version: 'test', clock, log: silentLog };
    this.engine = new Engine(makePlan(dialect, '10.0.0.1'), dependencies);
    const { services, endpoints, namespaces, pods } = this.cluster;
    for (const store of [services, endpoints, namespaces, pods]) store.listStarted();
    for (const store of [services, endpoints, namespaces, pods]) store.listCompleted();
    this.cluster.settle();
  }

  get cluster() {
    const cluster = this.engine.find(ProcessCluster)?.cluster;
    if (cluster === undefined) throw new Error('an engine without a cluster');
    return cluster;
  }

  async change(
    change: Exclude<typeof step extends fc.Arbitrary<infer Value> ? Value : never, { kind: 'ask' }>,
  ) {
    const { services, namespaces } = this.cluster;
    switch (change.kind) {
      case 'service':
        services.upsert(service('web', change.last));
        break;
      case 'remove':
        services.remove('blue/web');
        break;
      case 'alias':
        services.upsert(alias(change.target));
        break;
      case 'namespace':
        if (change.exists) namespaces.upsert({ kind: 'Namespace', name: 'green' });
        else namespaces.remove('green');
        break;
      case 'plan':
        await this.engine.change(makePlan(this.#dialect, change.address));
        return;
      case 'wait':
        this.clock.advance(change.milliseconds);
        return;
    }
    // The change is whole.
    this.cluster.settle();
  }

  askTable(packet: Uint8Array): Message | undefined {
    const octets = new Uint8Array(65_535);
    octets.set(packet);
    this.engine.reader.setTime(this.clock.monotonic());
    const length = this.engine.reader.answer(octets, 0, packet.length, octets.length, 'tcp');
    return length === VERDICT.ASK ? undefined : decodeMessage(octets.slice(0, length));
  }

  async askChain(packet: Uint8Array): Promise<Message> {
    const response = await this.engine.handleQuery(packet, CLIENT);
    if (response === undefined) throw new Error('no response');
    return decodeMessage(response);
  }
}

it('are never from before a change that was whole when the query came', { timeout: 60_000 }, async () => {
  let stored = 0;
  let repeated = 0;
  const steps = fc.array(step, { minLength: 30, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom('coredns', 'kube-dns'), steps, async (dialect, given) => {
      const subject = new Subject(dialect);
      await subject.engine.start();
      for (const each of given) {
        if (each.kind !== 'ask') {
          await subject.change(each);
          continue;
        }
        const packet = encodeQuery(each.name);
        const first = subject.askTable(packet);
        const now = await subject.askChain(packet);
        if (first !== undefined) expect(toComparable(first), each.name).toEqual(toComparable(now));
        const again = subject.askTable(packet);
        if (again !== undefined) expect(toComparable(again), each.name).toEqual(toComparable(now));
        if (first === undefined && again !== undefined) stored += 1;
        if (first !== undefined) repeated += 1;
      }
      subject.engine.stop();
    }),
  );
  // Nothing is proven where nothing is stored.
  expect(stored).toBeGreaterThan(5);
  expect(repeated).toBeGreaterThan(5);
});
