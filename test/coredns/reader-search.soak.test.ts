/**
 * What readers find by the search lists of pods is what the chain finds, for any cluster, pod and question.
 */
import { isDeepStrictEqual } from 'node:util';
import { decodeMessage } from '@portolan/dns/message.ts';
import { parseName } from '@portolan/dns/name.ts';
import { presentRecord } from '@portolan/dns/present.ts';
import { CLASS, type Message, RCODE, type RecordData, type ResourceRecord } from '@portolan/dns/types.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import type { ReceivedQuery } from '@portolan/testing/upstream/received-query.ts';
import { reply } from '@portolan/testing/upstream/reply.ts';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { ApiServerDouble } from '../api-server/api-server.ts';
import type { KubernetesObject } from '../api-server/object-store.ts';
import { endpoints, namespace, service } from '../list-watch/harness.ts';
import { makePacket, ReaderSubject, toComparableMessage } from './reader-subject.ts';

const name = (text: string) => parseName(text);
const SOA = {
  kind: 'SOA',
  primary: name('ns.www.example.com.'),
  mailbox: name('hostmaster.example.com.'),
  serial: 1,
  refresh: 2,
  retry: 3,
  expire: 4,
  minimum: 20,
} as const;

const alias = (target: string): RecordData => ({ kind: 'CNAME', target: name(target) });
const ipv4 = (address: string): RecordData => ({ kind: 'A', address });
const OUTSIDE = new Map<string, readonly (readonly [owner: string, data: RecordData])[]>([
  ['www.example.com. A', [['www.example.com.', ipv4('192.0.2.80')]]],
  ['www.example.com. AAAA', [['www.example.com.', { kind: 'AAAA', address: '2001:db8::80' }]]],
  ['v4.example.com. A', [1, 2, 3].map((last) => ['v4.example.com.', ipv4(`192.0.2.${last}`)] as const)],
  [
    'cdn.example.com. A',
    [
      ['cdn.example.com.', alias('edge.example.com.')],
      ['edge.example.com.', alias('far.away.local.')],
      ['far.away.local.', ipv4('192.0.2.9')],
    ],
  ],
  ['cdn.example.com. AAAA', [['cdn.example.com.', alias('edge.example.com.')]]],
]);
const EXISTING = new Set([...OUTSIDE.keys()].map((key) => key.split(' ')[0] ?? ''));
const TYPES = new Map([
  [1, 'A'],
  [28, 'AAAA'],
]);

/** Names below `example.com` that are not listed do not exist; all others neither, with the SOA record of the root. */
function answer({ query, send }: ReceivedQuery): void {
  const [question] = query.questions;
  if (question === undefined) return;
  const asked = question.name.toLowerCase();
  const record = (owner: string, ttl: number, data: RecordData): ResourceRecord => ({
    name: name(owner),
    class: CLASS.IN,
    ttl,
    data,
  });
  const records = OUTSIDE.get(`${asked} ${TYPES.get(question.type) ?? ''}`) ?? [];
  const answers = records.map(([owner, data]) => record(owner, 40, data));
  const apex = asked.endsWith('example.com.') ? 'example.com.' : '.';
  const isComplete = answers.some(({ data }) => data.kind !== 'CNAME');
  const authorities = isComplete ? [] : [record(apex, 25, SOA)];
  const rcode = EXISTING.has(asked) ? RCODE.NOERROR : RCODE.NXDOMAIN;
  const header = { ...query.header, response: true, recursionAvailable: true, rcode };
  send(reply(query, { header, answers, authorities }));
}

function pod(of: string, podIP: string, spec: object): KubernetesObject {
  const metadata = { name: `pod-${podIP}`, namespace: of };
  return { kind: 'Pod', metadata, spec, status: { phase: 'Running', podIP } };
}

const SERVICES: readonly KubernetesObject[] = [
  service('web', '10.96.0.1', 'team-a'),
  service('cart', '10.96.0.2', 'shop'),
  service('svc', '10.96.0.3', 'shop'),
  service('com', '10.96.0.4', 'example'),
  service('head', 'None'),
  endpoints('head'),
];
const SPECS: readonly object[] = [
  {},
  {},
  { dnsConfig: { searches: ['example.com', 'shop.svc.cluster.local'] } },
  { dnsPolicy: 'None', dnsConfig: { searches: ['team-b.svc.cluster.local', 'example.com'] } },
  { dnsPolicy: 'None', dnsConfig: { searches: ['team-a.svc.cluster.local', '.', 'example.com'] } },
  { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' },
  { dnsPolicy: 'Default' },
];
const BASES = [
  'www.example.com',
  'v4.example.com',
  'cdn.example.com',
  'gone.example.com',
  'www',
  'cdn',
  'cart.shop',
  'cart.shop.svc',
  'cart.shop.svc.cluster.local',
  'Cart.SHOP',
  'x.cart.shop',
  'gone.shop',
  'web',
  'x.web',
  'web.team-a',
  'head.default',
  '10-244-0-1.head.default',
  '*.shop',
  'x.*.shop',
  'cart.any',
  'svc.shop',
  'example.com',
  'com.example',
  'a.pod',
  '10-0-0-1.shop.pod',
  'ns.dns',
  `${'a'.repeat(60)}.b`,
  Array.from({ length: 7 }, () => 'long-label-of-a-name').join('.'),
];
const CLIENTS = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '2001:db8::1', '::ffff:192.0.2.2'];

interface World {
  readonly services: readonly KubernetesObject[];
  readonly pods: readonly KubernetesObject[];
}

async function start({ engine }: ReaderSubject, clock: ManualClock): Promise<void> {
  let isStarted = false;
  const starting = engine.start().then(() => {
    isStarted = true;
  });
  await waitUntil('the start', () => isStarted, { step: () => clock.advance(20) });
  await starting;
}

async function startSubject({ services, pods }: World, clock: ManualClock, plugin = 'kubernetes') {
  const spaces = ['default', 'team-a', 'team-b', 'shop'].map(namespace);
  const api = await ApiServerDouble.start({ objects: [...spaces, ...services, ...pods] });
  onTestFinished(() => api.stop());
  const upstream = await LoopbackUpstream.start(answer);
  onTestFinished(() => upstream.stop());
  const subject = new ReaderSubject(
    `.:53 {\n prometheus\n autopath @${plugin}\n cache 30\n` +
      ` ${plugin} cluster.local in-addr.arpa {\n endpoint ${api.url}\n pods verified\n }\n` +
      ` forward . 127.0.0.1:${upstream.port}\n}\n`,
    clock,
  );
  await start(subject, clock);
  return { subject, api };
}

const world: fc.Arbitrary<World> = fc.record({
  services: fc.subarray([...SERVICES]),
  pods: fc.tuple(
    ...CLIENTS.slice(0, 4).map((address) =>
      fc
        .record({ spec: fc.constantFrom(...SPECS), of: fc.constantFrom('team-a', 'team-a', 'team-b') })
        .map(({ spec, of }) => pod(of, address, spec)),
    ),
  ),
});
const asked = fc.record({
  base: fc.constantFrom(...BASES),
  space: fc.constantFrom('team-a', 'team-a', 'Team-A', 'team-b', 'shop'),
  type: fc.constantFrom('A', 'A', 'AAAA', 'MX'),
  address: fc.constantFrom(...CLIENTS),
  transport: fc.constantFrom('udp', 'udp', 'tcp'),
  isChecked: fc.boolean(),
  seconds: fc.constantFrom(0, 0, 0, 1, 7),
});

/** The cache of the chain counts down the TTLs of the cluster's records too, which readers give as they are. */
function toComparable(message: Message) {
  const { answers, authorities } = message;
  const isOfCluster = [...answers.slice(1), ...authorities].some((each) =>
    each.name.endsWith('cluster.local.'),
  );
  const withoutTtl = (records: readonly ResourceRecord[]) => records.map((each) => ({ ...each, ttl: 0 }));
  return toComparableMessage(
    isOfCluster
      ? { ...message, answers: withoutTtl(answers), authorities: withoutTtl(authorities) }
      : message,
  );
}

it('is what the chain finds', { timeout: 120_000 }, async () => {
  let found = 0;
  let denied = 0;
  await fc.assert(
    fc.asyncProperty(world, fc.array(asked, { minLength: 60, maxLength: 60 }), async (chosen, questions) => {
      const clock = new ManualClock();
      const { subject } = await startSubject(chosen, clock);
      for (const { base, space, type, address, transport, isChecked, seconds } of questions) {
        clock.advance(seconds * 1000);
        const client = { address, port: 53_000 };
        const packet = makePacket(`${base}.${space}.svc.cluster.local`, type, {
          flags: isChecked ? 0x110 : 0x100,
        });
        const byChain = () => subject.askChain(packet, transport, client);
        // Now the cache has what the answer depends on.
        await byChain();
        const ours = subject.askTable(packet, undefined, transport, client);
        if (ours === undefined) continue;
        const theirs = await byChain();
        expect(toComparable(ours)).toEqual(theirs && toComparable(theirs));
        if (ours.answers.length > 1) found += 1;
        else denied += 1;
      }
      subject.stop();
    }),
    { numRuns: 12, endOnFailure: true },
  );
  expect(Math.min(found, denied)).toBeGreaterThan(0);
});

const WWW = 'www.example.com.team-a.svc.cluster.local';
const FOUND = [`${WWW}. 0 IN CNAME www.example.com.`, 'www.example.com. 0 IN A 192.0.2.80'];

it.each(['kubernetes', 'kubernetai'])(
  'of %s is what exists now, whatever was found before',
  async (plugin) => {
    const clock = new ManualClock();
    const { subject, api } = await startSubject(
      { services: [], pods: [pod('team-a', '192.0.2.1', {})] },
      clock,
      plugin,
    );
    const client = { address: '192.0.2.1', port: 53_000 };
    const show = (of = WWW) =>
      subject
        .askTable(makePacket(of, 'A'), undefined, 'udp', client)
        ?.answers.map((each) => presentRecord({ ...each, ttl: 0 }));
    const shows = (what: string, expected: readonly string[], of?: string) =>
      waitUntil(what, () => isDeepStrictEqual(show(of), expected), { step: () => clock.advance(20) });
    // Not before the cache has the name.
    expect(show()).toBe(undefined);
    await subject.askChain(makePacket(WWW, 'A'), 'udp', client);
    expect(show()).toEqual(FOUND);
    api.put(service('cart', '10.96.0.9', 'shop'));
    const cart = 'cart.shop.team-a.svc.cluster.local.';
    const ofShop = [
      `${cart} 0 IN CNAME cart.shop.svc.cluster.local.`,
      'cart.shop.svc.cluster.local. 0 IN A 10.96.0.9',
    ];
    await shows('the new service', ofShop, cart);
    // Now the whole name may be that of an endpoint.
    api.put(service('com', '10.96.0.11', 'team-a'));
    await shows('the denial', []);
    api.delete('Service', 'com', 'team-a');
    await shows('the name outside', FOUND);
    api.delete('Pod', 'pod-192.0.2.1', 'team-a');
    await shows('the denial of a stranger', []);
  },
);

async function startByFile(kubernetes: string, clock: ManualClock) {
  const folder = await makeTemporaryFolder();
  const conf = await folder.write(
    'search',
    'search team-a.svc.cluster.local svc.cluster.local example.com\n',
  );
  const upstream = await LoopbackUpstream.start(answer);
  onTestFinished(() => upstream.stop());
  const subject = new ReaderSubject(
    `.:53 {\n prometheus\n autopath ${conf}\n ${kubernetes}\n forward . 127.0.0.1:${upstream.port}\n}\n`,
    clock,
  );
  await start(subject, clock);
  const client = { address: '192.0.2.5', port: 53_000 };
  const ask = async (name: string, type = 'A') =>
    toComparable((await subject.askChain(makePacket(name, type), 'udp', client)) ?? NOTHING);
  const read = (name: string, type = 'A') => {
    const message = subject.askTable(makePacket(name, type), undefined, 'udp', client);
    return message && toComparable(message);
  };
  return { subject, ask, read };
}

const NOTHING = decodeMessage(makePacket('nothing.', 'A'));

it('by a file is what the chain found, as long as all of it is cached', async () => {
  const clock = new ManualClock();
  const zone =
    'template IN ANY cluster.local {\n rcode NXDOMAIN\n authority ". 9 IN SOA a. b. 1 2 3 4 9"\n }';
  const { ask, read } = await startByFile(`cache 30\n ${zone}`, clock);
  for (const type of ['A', 'AAAA', 'MX']) {
    expect(read(WWW, type)).toBe(undefined);
    await ask(WWW, type);
    // Now the cache has all names of the list.
    const found = await ask(WWW, type);
    expect(read(WWW, type)).toEqual(found);
    clock.advance(5000);
    expect(await ask(WWW, type)).not.toEqual(found);
    expect(read(WWW, type)).toEqual(await ask(WWW, type));
    // The denials end first.
    clock.advance(4000);
    expect(read(WWW, type)).toBe(undefined);
  }
  expect(read(`gone.${WWW}`)).toBe(undefined);
});

it('by a file, of which the cache keeps only a part, ends with the epochs of the rest', async () => {
  const clock = new ManualClock();
  const spaces = ['team-a', 'www', 'shop'].map(namespace);
  const api = await ApiServerDouble.start({ objects: spaces });
  onTestFinished(() => api.stop());
  const kubernetes = `kubernetes cluster.local {\n endpoint ${api.url}\n }`;
  const cache = 'cache 30 {\n disable denial cluster.local\n disable success cluster.local\n }';
  const { ask, read } = await startByFile(`${cache}\n ${kubernetes}`, clock);
  const www = 'www.example.com.team-a.svc.cluster.local';
  await ask(www);
  const found = await ask(www);
  expect(read(www)).toEqual(found);
  api.put(service('any', '10.96.0.9', 'shop'));
  // The records of the cluster have changed: the chain searches again, and finds the same.
  await waitUntil('the change', () => read(www) === undefined, { step: () => clock.advance(20) });
  await ask(www);
  expect(read(www)).toEqual(await ask(www));
});
