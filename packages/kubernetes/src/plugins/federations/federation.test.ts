import { parseName, toKey } from '@portolan/dns/name.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { composeChain } from '@portolan/kernel/chain/handler.ts';
import { ALL_QUESTIONS } from '@portolan/kernel/chain/match.ts';
import { addresses, denial, makeHandler, makeQuery, told } from '@portolan/kernel/chain/testing/queries.ts';
import { createAliasFollower } from '@portolan/plugins/aliases/alias.ts';
import { describe, expect, it } from 'vitest';
import type { ClusterPlace } from '../../objects/node-places.ts';
import type { ClusterObject } from '../../objects/objects.ts';
import { createKubernetesHandler } from '../kubernetes/kubernetes.ts';
import { AskableCluster } from '../kubernetes/testing/askable-cluster.ts';
import { createFederationHandler } from './federation.ts';
import { readFederatedName } from './federation-names.ts';

const DOMAIN = toKey(parseName('cluster.local.'));

function service(namespace: string, name: string, clusterIP: string): ClusterObject {
  const address = { kind: 'clusterIPs', addresses: [clusterIP] } as const;
  return { kind: 'Service', namespace, name, address, ports: [] };
}

function endpoints(namespace: string, name: string, ...ips: readonly string[]): ClusterObject {
  const addresses = ips.map((address) => ({ address, hostname: undefined }));
  const groups = addresses.length === 0 ? [] : [{ addresses, ports: [] }];
  return { kind: 'Endpoints', namespace, name, service: name, groups };
}

const OBJECTS: readonly ClusterObject[] = [
  service('blue', 'web', '10.96.0.1'),
  endpoints('blue', 'web', '10.244.0.1'),
  service('blue', 'idle', '10.96.0.2'),
  endpoints('blue', 'idle'),
  { kind: 'Service', namespace: 'blue', name: 'db', address: { kind: 'headless' }, ports: [] },
  endpoints('blue', 'db', '10.244.0.2'),
  {
    kind: 'Service',
    namespace: 'blue',
    name: 'out',
    ports: [],
    address: { kind: 'externalName', name: 'www.example.com' },
  },
  // A namespace with the name of a federation, and a service in it with the name of a namespace.
  service('fed', 'blue', '10.96.0.3'),
];

/** Other handlers, which know every name of `fed.example` and `www.example.com`. */
const resolver = makeHandler(({ question, key }) =>
  question.type === 1 && (key.endsWith('.fed.example.') || key === 'www.example.com.')
    ? addresses(question.name, '192.0.2.7')
    : denial('nxdomain'),
);

const HERE: ClusterPlace = { kind: 'place', zone: 'z', region: 'r' };

interface World {
  readonly place?: ClusterPlace;
  readonly objects?: readonly ClusterObject[];
  readonly isListed?: boolean;
}

async function ask(
  name: string,
  type = 'A',
  { place = HERE, objects = OBJECTS, isListed = true }: World = {},
) {
  const askable = new AskableCluster('kube-dns');
  if (isListed) askable.list(objects);
  else askable.begin(objects);
  const { cluster } = askable;
  const clock = new ManualClock();
  const log = new RecordingLog();
  const domains = new Map([['fed', toKey(parseName('fed.example.'))]]);
  const federations = {
    domain: DOMAIN,
    findDomain: (federation: string) => domains.get(federation),
    place,
    questions: ALL_QUESTIONS,
  };
  const chain = composeChain([
    createAliasFollower(log, clock),
    createFederationHandler({ federations, cluster, clock, log }),
    createKubernetesHandler(cluster),
    resolver,
  ]);
  return { told: told(await chain(makeQuery(`${name}.svc.cluster.local.`, type))), log };
}

const lines = async (...args: Parameters<typeof ask>) => (await ask(...args)).told;
/** Objects without the namespace that has the name of the federation. */
const PLAIN = { objects: OBJECTS.filter((object) => !('namespace' in object) || object.namespace !== 'fed') };

describe('a service of a federation', () => {
  it('is the one here, if it has endpoints', async () => {
    expect(await lines('web.blue.fed', 'A', PLAIN)).toEqual([
      'records',
      'web.blue.fed.svc.cluster.local. 0 IN CNAME web.blue.svc.cluster.local.',
      'web.blue.svc.cluster.local. 30 IN A 10.96.0.1',
    ]);
    expect(await lines('db.blue.fed', 'A', PLAIN)).toContain('db.blue.svc.cluster.local. 30 IN A 10.244.0.2');
    expect(await lines('out.blue.fed', 'A', PLAIN)).toEqual([
      'records',
      'out.blue.fed.svc.cluster.local. 0 IN CNAME out.blue.svc.cluster.local.',
      'out.blue.svc.cluster.local. 30 IN CNAME www.example.com.',
      'www.example.com. 30 IN A 192.0.2.7',
    ]);
  });

  it.each(['idle', 'nobody'])('is elsewhere, if there is no endpoint here: %s', async (name) => {
    const target = `${name}.blue.fed.svc.z.r.fed.example.`;
    expect(await lines(`${name}.blue.fed`, 'A', PLAIN)).toEqual([
      'records',
      `${name}.blue.fed.svc.cluster.local. 0 IN CNAME ${target}`,
      `${target} 30 IN A 192.0.2.7`,
    ]);
  });

  it('exists for all types', async () => {
    expect(await lines('web.blue.fed', 'TXT', PLAIN)).toEqual(['nodata']);
    expect(await lines('nobody.blue.fed', 'TXT', PLAIN)).toEqual(['nodata']);
    // The target has no such address.
    expect(await lines('web.blue.fed', 'AAAA', PLAIN)).toEqual(['nodata']);
    expect(await lines('web.blue.fed', 'CNAME', PLAIN)).toHaveLength(2);
    expect(await lines('web.blue.fed', 'SRV', PLAIN)).toEqual([
      'records',
      'web.blue.fed.svc.cluster.local. 0 IN SRV 10 100 0 web.blue.svc.cluster.local.',
    ]);
  });

  it('may be asked for before all is known', async () => {
    expect(await lines('web.blue.fed', 'A', { ...PLAIN, isListed: false })).toEqual(['servfail']);
    const place: ClusterPlace = { kind: 'unknown' };
    expect(await lines('nobody.blue.fed', 'A', { ...PLAIN, place })).toEqual(['servfail']);
    expect(await lines('web.blue.fed', 'A', { ...PLAIN, place })).toHaveLength(3);
  });

  it.each<ClusterPlace>([
    { kind: 'nowhere' },
    { kind: 'place', zone: 'z..z', region: 'r' },
    { kind: 'place', zone: 'z'.repeat(64), region: 'r' },
  ])('is nowhere, if the cluster is: %j', async (place) => {
    const answer = await ask('nobody.blue.fed', 'A', { ...PLAIN, place });
    expect(answer.told).toEqual(['nodata']);
    expect(answer.log.records).toMatchObject([{ level: 'warn', fields: { name: expect.any(String) } }]);
  });

  it('gives way to what the cluster has under such a name, and below', async () => {
    expect(await lines('nobody.blue.fed')).toEqual(['nxdomain']);
    expect(await lines('nobody.green.fed')).toHaveLength(3);
  });

  it.each(['web.blue.other', '*.blue.fed', '1web.blue.fed', 'web.bl_ue.fed', 'x.web.blue.fed', 'blue.fed'])(
    'is not: %s',
    async (name) => {
      expect(await lines(name, 'A', PLAIN)).toEqual(['nxdomain']);
    },
  );
});

it.each([
  ['a.b.c.svc.cluster.local.', { service: 'a', namespace: 'b', federation: 'c' }],
  ['a.1.2.svc.cluster.local.', { service: 'a', namespace: '1', federation: '2' }],
  ['1.b.c.svc.cluster.local.', undefined],
  ['a.b.c.pod.cluster.local.', undefined],
  ['a.b.c.svc.cluster.example.', undefined],
  ['svc.cluster.local.', undefined],
  ['cluster.local.', undefined],
])('%s', (name, expected) => {
  expect(readFederatedName(toKey(parseName(name)), DOMAIN)).toEqual(expected);
});
