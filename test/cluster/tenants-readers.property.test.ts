/**
 * Readers and the chain of each front end, with tenants apart: any client gets what a server answers that has only the objects which
 * the client sees, whatever others have asked before.
 */
import { presentRecord } from '@portolan/dns/present.ts';
import type { Message } from '@portolan/dns/types.ts';
import { memorySources } from '@portolan/frontends/dnsmasq/settings/testing/memory-sources.ts';
import { compileServe } from '@portolan/frontends/serve/settings/compile-serve.ts';
import { NO_SERVERS } from '@portolan/frontends/serve/settings/resolver-settings.ts';
import { planFromFlags } from '@portolan/frontends/serve/settings/serve-plan.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { PLAIN_GROUP } from '@portolan/kernel/plan/server-blocks-plan.ts';
import { trimLabelledNamespace } from '@portolan/kubernetes/objects/trim/trim-namespace.ts';
import { trimPod } from '@portolan/kubernetes/objects/trim/trim-pod.ts';
import { trimService } from '@portolan/kubernetes/objects/trim/trim-service.ts';
import { ProcessCluster } from '@portolan/kubernetes/plugins/kubernetes/process-cluster.ts';
import { toClusterSinks } from '@portolan/kubernetes/publish/cluster-sinks.ts';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { ApiServerDouble } from '../api-server/api-server.ts';
import type { KubernetesObject } from '../api-server/object-store.ts';
import { makePacket, ReaderSubject, SERVER } from '../coredns/reader-subject.ts';

const OPERATOR = '198.51.100.7';
const CLIENTS = ['10.244.0.1', '10.244.0.2', '10.244.0.3', 'fd00::4', '192.0.2.9', OPERATOR] as const;
const NAMESPACES = ['shop', 'bank', 'open'] as const;
const SERVICES = ['web', 'db'] as const;
const SHARED = { 'portolan-tenants/shared': 'true' };

/** Who has what, as users say it. */
interface World {
  /** Undefined: no label. */
  readonly teams: Readonly<Record<(typeof NAMESPACES)[number], string | undefined>>;
  readonly services: readonly { readonly key: string; readonly isShared: boolean }[];
  /** By client, but for the last two: the namespace of its pod; undefined: it is no pod. */
  readonly pods: readonly (string | undefined)[];
}

const world: fc.Arbitrary<World> = fc.record({
  teams: fc.record({
    shop: fc.constantFrom('a', 'b', undefined),
    bank: fc.constantFrom('b', 'b', 'a'),
    open: fc.constantFrom(undefined, undefined, 'c'),
  }),
  services: fc.array(
    fc.record({
      key: fc.constantFrom(...NAMESPACES.flatMap((space) => SERVICES.map((name) => `${space}/${name}`))),
      isShared: fc.constantFrom(false, false, false, true),
    }),
    { minLength: 3, maxLength: 6 },
  ),
  pods: fc.tuple(...[1, 2, 3, 4].map(() => fc.constantFrom(...NAMESPACES, undefined))),
});

const asked = fc.record({
  name: fc.oneof(
    fc
      .record({
        below: fc.constantFrom('', '', '', '_http._tcp.', 'x.', '*.'),
        service: fc.constantFrom(...SERVICES, 'gone', '*'),
        space: fc.constantFrom(...NAMESPACES, ...NAMESPACES, '*'),
        end: fc.constantFrom('', '', 'shop.svc.cluster.local', 'bank.svc.cluster.local'),
      })
      // A name behind which the search list of a pod stands, if `end` is not empty.
      .map(({ below, service, space, end }) => `${below}${service}.${space}.${end || 'svc.cluster.local'}`),
    fc.constantFrom(...NAMESPACES.map((space) => `${space}.svc.cluster.local`)),
    fc.constantFrom(...[0, 1, 2, 3, 4, 5].map((place) => `${place + 1}.0.96.10.in-addr.arpa`)),
    fc.constantFrom('10-244-0-1.shop.pod.cluster.local', '10-244-0-2.bank.pod.cluster.local'),
  ),
  type: fc.constantFrom('A', 'A', 'AAAA', 'SRV', 'PTR', 'ANY', 'TXT', 'HTTPS'),
  client: fc.constantFrom(...CLIENTS),
  transport: fc.constantFrom('udp', 'udp', 'tcp'),
});

const PLACES = NAMESPACES.flatMap((space) => SERVICES.map((name) => `${space}/${name}`));

function toObjects({ teams, services, pods }: World): readonly KubernetesObject[] {
  const spaces = NAMESPACES.map((name) => {
    const team = teams[name];
    return { kind: 'Namespace', metadata: { name, ...(team !== undefined && { labels: { team } }) } };
  });
  // The last one of a key counts.
  const ofServices = [...new Map(services.map((each) => [each.key, each])).values()].map(
    ({ key, isShared }) => {
      const [namespace = '', name = ''] = key.split('/');
      const metadata = { name, namespace, annotations: isShared ? SHARED : {} };
      const ports = [{ name: 'http', port: 80, protocol: 'TCP' }];
      return { kind: 'Service', metadata, spec: { clusterIP: `10.96.0.${PLACES.indexOf(key) + 1}`, ports } };
    },
  );
  const ofPods = pods.flatMap((namespace, index) =>
    namespace === undefined
      ? []
      : {
          kind: 'Pod',
          metadata: { name: `pod-${index}`, namespace },
          spec: {},
          status: { phase: 'Running', podIP: CLIENTS[index] },
        },
  );
  return [...spaces, ...ofServices, ...ofPods];
}

/** What a client sees. */
function selectVisible(objects: readonly KubernetesObject[], world: World, client: string) {
  if (client === OPERATOR) return objects;
  const own = world.pods[CLIENTS.indexOf(client as (typeof CLIENTS)[number])];
  const teams = new Map(Object.entries(world.teams));
  const team = own === undefined ? undefined : teams.get(own);
  const isOpen = (namespace: string) => teams.get(namespace) === undefined || teams.get(namespace) === team;
  const isShared = ({ kind, metadata }: KubernetesObject) =>
    kind === 'Service' && JSON.stringify(metadata).includes('shared');
  const partly = new Set(objects.filter(isShared).map(({ metadata }) => metadata.namespace));
  return objects.filter((object) => {
    const { name = '', namespace = '' } = object.metadata;
    if (object.kind === 'Namespace') return isOpen(name) || partly.has(name);
    return isOpen(namespace) || isShared(object);
  });
}

type Start = (
  objects: readonly KubernetesObject[],
  tenanted: boolean,
) => Promise<readonly [ReaderSubject, string]>;

const startCoreDns: Start = async (objects, tenanted) => {
  const api = await ApiServerDouble.start({ objects });
  onTestFinished(() => api.stop());
  const clock = new ManualClock();
  const feature = tenanted ? ` portolan {\n tenants by-namespace-label team seen-by ${OPERATOR}\n }\n` : '';
  const subject = new ReaderSubject(
    `.:53 {\n${feature} autopath @kubernetes\n cache 30\n kubernetes cluster.local in-addr.arpa {\n` +
      `  endpoint ${api.url}\n  pods verified\n }\n}\n`,
    clock,
  );
  let isStarted = false;
  const starting = subject.engine.start().then(() => {
    isStarted = true;
  });
  await waitUntil('the start', () => isStarted, { step: () => clock.advance(20) });
  await starting;
  return [subject, SERVER];
};

const startServe =
  (dialect: 'coredns' | 'kube-dns'): Start =>
  async (objects, tenanted) => {
    const own = { tenants: 'by-namespace-label:team', tenantsSeenBy: OPERATOR };
    const checked = planFromFlags(
      { dialect, pods: 'verified', ...(tenanted && own) },
      { cores: 2, terminal: false, environment: {} },
      memorySources(),
    );
    if (checked.kind === 'bad') throw new Error(JSON.stringify(checked.problems));
    const machine = { interfaces: {}, ownAddresses: ['192.0.2.2'] };
    const subject = new ReaderSubject(
      compileServe(checked.value, NO_SERVERS, machine).engine,
      new ManualClock(),
    );
    await subject.engine.start();
    const cluster = subject.engine.find(ProcessCluster)?.cluster;
    if (cluster === undefined) throw new Error('an engine without a cluster');
    const { services, endpoints, namespaces, pods } = toClusterSinks(cluster);
    for (const sink of [services, endpoints, namespaces, pods]) sink?.listStarted();
    for (const object of objects) {
      if (object.kind === 'Service') takeObject(trimService(object), (each) => services.upsert(each));
      else if (object.kind === 'Pod') takeObject(trimPod(object), (each) => pods?.upsert(each));
      else takeObject(trimLabelledNamespace(object), (each) => namespaces?.upsert(each));
    }
    for (const sink of [services, endpoints, namespaces, pods]) sink?.listCompleted();
    cluster.settle();
    return [subject, PLAIN_GROUP];
  };

function takeObject<Kind>(
  trimmed: { readonly kind: string; readonly object?: Kind },
  take: (object: Kind) => void,
) {
  if (trimmed.object === undefined) throw new Error(trimmed.kind);
  take(trimmed.object);
}

/** Flags and TTLs of a cache differ from those of a first answer. */
function show(message: Message | undefined): unknown {
  if (message === undefined) return 'no answer';
  const { header, answers, authorities, additionals } = message;
  const sections = [answers, authorities, additionals].map((records) =>
    records.map((record) => presentRecord({ ...record, ttl: 0 }).replace(/(SOA \S+ \S+) \d+/, '$1')).sort(),
  );
  return [header.rcode, ...sections];
}

it.each<readonly [string, Start, number]>([
  ['coredns', startCoreDns, 4],
  ['serve', startServe('coredns'), 10],
  ['kube-dns', startServe('kube-dns'), 10],
])('%s answers each client as if it were alone', { timeout: 120_000 }, async (_, start, numRuns) => {
  let compared = 0;
  let denied = 0;
  await fc.assert(
    fc.asyncProperty(
      world,
      fc.array(asked, { minLength: 300, maxLength: 300 }),
      async (chosen, questions) => {
        const objects = toObjects(chosen);
        const [subject, server] = await start(objects, true);
        const references = new Map<string, ReaderSubject>();
        for (const { name, type, client, transport } of questions) {
          const seen = selectVisible(objects, chosen, client);
          const key = JSON.stringify([seen, client]);
          const reference = references.get(key) ?? (await start(seen, false))[0];
          references.set(key, reference);
          const ask = async (of: ReaderSubject) => {
            const packet = makePacket(name, type);
            const asking = { address: client, port: 5353 };
            const group = of.engine.getListenerGroupNumber(server);
            return (
              of.askTable(packet, group, transport, asking) ??
              (await of.askChain(packet, transport, asking, server))
            );
          };
          const answer = show(await ask(subject));
          expect(answer, `${name} ${type} for ${client} by ${transport}`).toEqual(show(await ask(reference)));
          compared += 1;
          if (JSON.stringify(answer).startsWith('[3')) denied += 1;
        }
        for (const each of [subject, ...references.values()]) each.stop();
      },
    ),
    // Each attempt to shrink a counterexample starts servers.
    { numRuns, endOnFailure: true },
  );
  expect(compared).toBe(numRuns * 300);
  expect(denied).toBeGreaterThan(compared / 10);
  expect(denied).toBeLessThan(compared);
});
