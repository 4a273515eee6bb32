/**
 * What a client of a tenant gets, for random clusters: the answers of a cluster that has only what the client sees.
 */
import { presentRecord } from '@portolan/dns/present.ts';
import { type Message, TYPE } from '@portolan/dns/types.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isReversePrefix } from '../names/address-prefixes.ts';
import { canonicalAddresses } from '../names/endpoints.ts';
import {
  type ClusterObject,
  keyOfObject,
  type NamespaceObject,
  type PodObject,
  type ServiceObject,
} from '../objects/objects.ts';
import { AskableCluster, type DialectName, question } from '../plugins/kubernetes/testing/askable-cluster.ts';
import {
  ADDRESSES,
  arbitraryEndpoints,
  arbitraryNamespace,
  arbitraryPod,
  arbitraryQuestionName,
  arbitraryService,
  LIKELY_NAMES,
} from '../testing/arbitrary-objects.ts';
import type { ModelOptions } from './model-options.ts';

const LABEL = 'team';
const OPERATOR = '198.51.100.7';
const STRANGER = '192.0.2.53';
const TYPES = [TYPE.A, TYPE.AAAA, TYPE.SRV, TYPE.PTR, TYPE.ANY, TYPE.CNAME, TYPE.TXT, TYPE.SOA, TYPE.NS];
const MODES: readonly ModelOptions['pods'][] = ['disabled', 'insecure', 'verified'];

/** Names of pods, and names above them. */
const POD_NAMES = ['blue', 'green', 'empty'].flatMap((namespace) =>
  ['', '10-244-0-1.', '10-244-1-3.', '10-96-0-7.', 'fd00--1.'].map(
    (pod) => `${pod}${namespace}.pod.cluster.local.`,
  ),
);

const namespaces = fc
  .tuple(
    arbitraryNamespace,
    fc.constantFrom(undefined, 'a', 'a', 'b', ''),
    fc.constantFrom(false, false, true),
  )
  .map(([object, team, isShared]): NamespaceObject => {
    const labels = new Map(team === undefined ? [] : [[LABEL, team]]);
    return { ...object, labels, isShared };
  });
const services = fc
  .tuple(arbitraryService, fc.constantFrom(false, false, false, true))
  .map(([object, isShared]): ServiceObject => ({ ...object, isShared }));
const pods = fc
  .tuple(arbitraryPod, fc.constantFrom(false, false, true))
  .map(([object, isInNodeNetwork]): PodObject => ({ ...object, isInNodeNetwork }));
const objects = fc
  .tuple(
    fc.array(services, { minLength: 4, maxLength: 16 }),
    fc.array(arbitraryEndpoints, { minLength: 2, maxLength: 12 }),
    fc.array(namespaces, { minLength: 2, maxLength: 5 }),
    fc.array(pods, { minLength: 1, maxLength: 5 }),
  )
  .map((kinds): readonly ClusterObject[] => kinds.flat());

/** The last version of each object. */
function keepLast(all: readonly ClusterObject[]): readonly ClusterObject[] {
  return [...new Map(all.map((object) => [`${object.kind} ${keyOfObject(object)}`, object])).values()];
}

/** The tenant of a client, by the objects alone. */
function findTenant(all: readonly ClusterObject[], client: string): string | undefined {
  const claims = all.filter(
    (object) =>
      object.kind === 'Pod' &&
      object.isInNodeNetwork !== true &&
      canonicalAddresses(object.addresses).includes(client),
  );
  const [namespace, ...others] = new Set(
    claims.map((object) => ('namespace' in object ? object.namespace : '')),
  );
  if (namespace === undefined || others.length > 0) return undefined;
  const found = all.find((object) => object.kind === 'Namespace' && object.name === namespace);
  return found?.kind === 'Namespace' ? found.labels?.get(LABEL) : undefined;
}

/** The objects that a client sees. */
function selectVisible(all: readonly ClusterObject[], client: string): readonly ClusterObject[] {
  if (client === OPERATOR) return all;
  const tenant = findTenant(all, client);
  const open = new Set(
    all.flatMap((object) => {
      if (object.kind !== 'Namespace') return [];
      const own = object.labels?.get(LABEL);
      return object.isShared === true || own === undefined || own === tenant ? [object.name] : [];
    }),
  );
  const shared = all.filter((object) => object.kind === 'Service' && object.isShared === true);
  const sharedKeys = new Set(shared.map(keyOfObject));
  const isVisible = (namespace: string, service: string) =>
    open.has(namespace) || sharedKeys.has(`${namespace}/${service}`);
  // A namespace without an object has one here if it is seen.
  const partly = shared.flatMap((object) => ('namespace' in object ? [object.namespace] : []));
  return [
    ...[...new Set([...open, ...partly])].map((name) => ({ kind: 'Namespace', name }) as const),
    ...all.filter((object) => {
      if (object.kind === 'Service') return isVisible(object.namespace, object.name);
      if (object.kind === 'Endpoints') return isVisible(object.namespace, object.service);
      return object.kind === 'Pod' && open.has(object.namespace);
    }),
  ];
}

function show({ header, answers, authorities, additionals }: Message) {
  const sections = [answers, authorities, additionals].map((records) => records.map(presentRecord).sort());
  return { header, sections };
}

describe.each<DialectName>(['coredns', 'kube-dns'])('in the dialect of %s', (dialect) => {
  it('is what a cluster answers that lacks the objects of others', { timeout: 120_000 }, async () => {
    let compared = 0;
    let hidden = 0;
    const cases = fc.record({
      all: objects.map(keepLast),
      names: fc.array(arbitraryQuestionName, { minLength: 10, maxLength: 20 }),
      likely: fc.shuffledSubarray([...LIKELY_NAMES], { minLength: 10, maxLength: 10 }),
      clients: fc.shuffledSubarray([...canonicalAddresses(ADDRESSES), STRANGER, OPERATOR], {
        minLength: 3,
        maxLength: 3,
      }),
      pods: fc.constantFrom(...MODES),
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ all, names, likely, clients, pods: mode }) => {
        // Name servers are those that all clients see.
        const options = { pods: mode, ownAddresses: ['192.0.2.2'] };
        const seenBy = [{ address: '198.51.100.0', prefix: 24 }];
        const tenanted = new AskableCluster(dialect, { ...options, tenants: { label: LABEL, seenBy } });
        tenanted.list(all);
        const whole = new AskableCluster(dialect, options);
        whole.list(all);
        for (const client of clients) {
          const own = new AskableCluster(dialect, options);
          own.list(selectVisible(all, client));
          for (const name of [...names, ...likely, ...POD_NAMES])
            for (const type of TYPES) {
              const asked = question(name, type);
              // Names above addresses may all have names below them.
              if (client !== OPERATOR && isReversePrefix(asked.name as never)) continue;
              const answer = show(await tenanted.askChain(asked, client));
              expect(answer, `${name} ${type} for ${client}`).toEqual(show(await own.askChain(asked)));
              compared += 1;
              if (JSON.stringify(answer) !== JSON.stringify(show(await whole.askChain(asked)))) hidden += 1;
            }
        }
      }),
      { numRuns: 20 },
    );
    // Most random questions are about nothing that is hidden.
    expect(compared).toBeGreaterThan(10_000);
    expect(hidden).toBeGreaterThan(10);
  });
});

it('names the services at our own addresses as name servers only if all clients see them', async () => {
  const cluster = new AskableCluster('coredns', { tenants: { label: LABEL, seenBy: [] } });
  const service = (namespace: string): ServiceObject => {
    const address = { kind: 'headless' } as const;
    return { kind: 'Service', namespace, name: 'dns', address, ports: [] };
  };
  const endpoints = (namespace: string): ClusterObject => {
    const groups = [{ addresses: [{ address: '192.0.2.2', hostname: 'one' }], ports: [] }];
    return { kind: 'Endpoints', namespace, name: 'dns-1', service: 'dns', groups };
  };
  cluster.list([
    { kind: 'Namespace', name: 'open', labels: new Map() },
    { kind: 'Namespace', name: 'bank', labels: new Map([[LABEL, 'b']]) },
    ...['open', 'bank'].flatMap((namespace) => [service(namespace), endpoints(namespace)]),
  ]);
  const { answers } = await cluster.askChain(question('cluster.local.', TYPE.NS));
  expect(answers.map(({ data }) => 'target' in data && data.target)).toEqual([
    'one.dns.open.svc.cluster.local.',
  ]);
});
