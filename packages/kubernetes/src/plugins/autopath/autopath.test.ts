import { parseName, toKey } from '@portolan/dns/name.ts';
import { presentRecord } from '@portolan/dns/present.ts';
import { RCODE } from '@portolan/dns/types.ts';
import { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { Handler } from '@portolan/kernel/chain/handler.ts';
import { Query } from '@portolan/kernel/chain/query.ts';
import { addresses, CLIENT, denial, makeQuery } from '@portolan/kernel/chain/testing/queries.ts';
import { toWholeAnswer } from '@portolan/kernel/chain/whole-answer.ts';
import type { RestorableId } from '@portolan/kernel/deviations/table.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PodSearch } from '../../objects/objects.ts';
import { createAutopathHandler, type SearchSource } from './autopath.ts';
import { ClusterSearch, listOfSeveral } from './cluster-search.ts';

const key = (text: string) => toKey(parseName(text));
const POD = '10.244.0.7';

interface World {
  /** Names with an address; the value `nodata` is a name without one, another word a failure. */
  readonly names: Readonly<Record<string, string>>;
  readonly search?: PodSearch;
  readonly services?: readonly string[];
  readonly host?: readonly string[];
  readonly client?: string;
  readonly restored?: readonly RestorableId[];
  /** Zones of the block; other names have no handler there. */
  readonly zones?: readonly string[];
}

function findAnswer(names: World['names'], name: string): Answer {
  const found = new Map(Object.entries(names)).get(name.toLowerCase());
  if (found === undefined) return denial('nxdomain');
  if (found === 'nodata') return denial('nodata');
  return found === 'servfail' ? { kind: 'servfail', reason: 'broken' } : addresses(name, found);
}

function clusterSource({ search, services = [], host = [], restored = [] }: World): SearchSource {
  const pod = { namespace: 'team-a', search: search ?? { kind: 'cluster', more: [] } } as const;
  const cluster = new ClusterSearch(
    {
      serviceZones: [key('cluster.local.')],
      hasService: (namespace, name) => services.includes(`${name}.${namespace}`),
      searches: {
        find: (address) => (address === POD ? pod : undefined),
        all: (address) => (address === POD ? [pod] : []),
      },
    },
    restored.includes('search-of-services'),
  );
  cluster.ownDomains = host.map(key);
  return {
    domains: new Set(cluster.domains),
    listFor: (query) => cluster.listFor(query.key, query.dependOnClient().address),
  };
}

function handlerFor(world: World, metrics = new MetricRegistry()) {
  const { names, restored = [], zones = ['.'] } = world;
  const asked: string[] = [];
  const elsewhere: string[] = [];
  const handler: Handler = createAutopathHandler(clusterSource(world), {
    restored: new Set(restored),
    metrics,
    zones: zones.map(key),
    lookUp: ({ question }) => {
      elsewhere.push(question.name);
      return findAnswer(names, question.name);
    },
  });
  const next = (query: Query): Answer => {
    asked.push(query.question.name);
    const isServed = zones.some((zone) => zone === '.' || query.key.endsWith(zone));
    return isServed ? findAnswer(names, query.question.name) : { kind: 'servfail', reason: 'no next plugin' };
  };
  return { handler, next, asked, elsewhere, metrics };
}

async function ask(name: string, world: World, type = 'A') {
  const parts = handlerFor(world);
  const { question, header } = makeQuery(name, type);
  const client = { ...CLIENT, address: world.client ?? POD };
  const query = new Query(question, { header, question, edns: undefined }, client);
  const answer = await parts.handler.handle(query, parts.next);
  if (answer.kind === 'drop') throw new Error('no answer');
  const { rcode, answers } = toWholeAnswer(answer);
  return { ...parts, answer, query, rcode, shown: answers.map(presentRecord) };
}

const WWW = 'www.example.com.team-a.svc.cluster.local.';
const OUTSIDE = { 'www.example.com.': '192.0.2.80' };

describe('a missing name below the first domain', () => {
  it('is answered by the first name of the list that exists, and counted', async () => {
    const { shown, asked, metrics } = await ask(WWW, { names: OUTSIDE, host: ['corp.example.'] });
    expect(shown).toEqual([`${WWW} 30 IN CNAME www.example.com.`, 'www.example.com. 30 IN A 192.0.2.80']);
    expect(asked).toEqual([
      WWW,
      'www.example.com.svc.cluster.local.',
      'www.example.com.cluster.local.',
      'www.example.com.corp.example.',
      'www.example.com.',
    ]);
    expect(await metrics.render()).toContain('coredns_autopath_success_total{server=""} 1');
  });

  it('keeps the letters of the client', async () => {
    const name = 'WWW.Example.com.team-a.svc.cluster.local.';
    expect((await ask(name, { names: OUTSIDE })).shown).toEqual([
      `${name} 30 IN CNAME WWW.Example.com.`,
      'WWW.Example.com. 30 IN A 192.0.2.80',
    ]);
  });

  it('ends at a name that exists without records of the type', async () => {
    const names = { 'cart.shop.svc.cluster.local.': 'nodata', 'cart.shop.': '192.0.2.1' };
    const { rcode, shown, asked } = await ask('cart.shop.team-a.svc.cluster.local.', { names });
    expect([rcode, shown, asked.length]).toEqual([RCODE.NOERROR, [], 2]);
  });

  it('ends at a failure, where a client would end too', async () => {
    const names = { ...OUTSIDE, 'www.example.com.cluster.local.': 'servfail' };
    const { rcode, asked, metrics } = await ask(WWW, { names });
    expect([rcode, asked.length]).toEqual([RCODE.SERVFAIL, 3]);
    expect(await metrics.render()).not.toMatch(/autopath_success_total\{.*\} 1/);
  });

  it('is denied as it is if none exists', async () => {
    const { answer, asked } = await ask(WWW, { names: {} });
    expect(answer).toEqual(denial('nxdomain'));
    expect(asked).toHaveLength(4);
  });

  it('is looked for in other blocks, if this one has no handler for it', async () => {
    const world = { names: OUTSIDE, zones: ['cluster.local.'] };
    const { shown, elsewhere } = await ask(WWW, world);
    expect(elsewhere).toEqual(['www.example.com.']);
    expect(shown).toHaveLength(2);
    expect((await ask(WWW, { ...world, restored: ['search-elsewhere'] })).rcode).toBe(RCODE.SERVFAIL);
  });

  it('is not stored for other clients', async () => {
    const { query } = await ask(WWW, { names: OUTSIDE });
    expect([query.clientWasRead, query.isDerived, query.kept]).toEqual([true, false, undefined]);
  });
});

describe('passes on', () => {
  it('a name that exists, for all clients alike', async () => {
    const { asked, query, answer } = await ask('web.team-a.svc.cluster.local.', {
      names: { 'web.team-a.svc.cluster.local.': '10.96.0.1' },
    });
    expect([asked.length, query.clientWasRead, answer.kind]).toEqual([1, false, 'records']);
  });

  it.each<[string, string, Partial<World>]>([
    ['of an unknown client', WWW, { client: '10.244.0.8' }],
    ['of a pod with an unknown list', WWW, { search: { kind: 'unknown' } }],
    ['below the domain of another namespace', WWW.replace('team-a', 'team-b'), {}],
    ['below a later domain', 'www.example.com.svc.cluster.local.', {}],
    ['that may be a service itself', 'web.team-a.svc.cluster.local.', { names: { 'web.': '192.0.2.1' } }],
    [
      'that may be an endpoint of a service',
      'db-0.db.team-a.svc.cluster.local.',
      { services: ['db.team-a'], names: { 'db-0.db.': '192.0.2.1' } },
    ],
    ['outside of the cluster', 'www.example.org.', {}],
  ])('a missing name %s', async (_, name, world) => {
    const { asked, rcode } = await ask(name, { names: OUTSIDE, ...world });
    expect([asked, rcode]).toEqual([[name], RCODE.NXDOMAIN]);
  });

  it('transfers', async () => {
    expect((await ask(WWW, { names: OUTSIDE }, 'AXFR')).asked).toEqual([WWW]);
  });
});

it('searches for such names too, and counts those that exist, where it has to be as CoreDNS', async () => {
  const names = { 'web.': '192.0.2.1', 'own.team-a.svc.cluster.local.': '10.96.0.1' };
  const found = await ask('web.team-a.svc.cluster.local.', { names, restored: ['search-of-services'] });
  expect(found.shown).toHaveLength(2);
  const restored = ['search-counts', 'search-of-services'] as const;
  const own = await ask('own.team-a.svc.cluster.local.', { names, restored });
  expect(await own.metrics.render()).toContain('coredns_autopath_success_total{server=""} 1');
});

/** A stub resolver that walks its list. It stops at the first answer that is not NXDOMAIN, as musl's does. */
async function walk(base: string, list: readonly string[], askServer: (name: string) => Promise<Answer>) {
  for (const domain of [...list, '']) {
    const answer = await askServer(`${base}${domain}`);
    if (answer.kind === 'drop') throw new Error('no answer');
    const { rcode, answers } = toWholeAnswer(answer);
    if (rcode === RCODE.NXDOMAIN) continue;
    return { rcode, found: answers.filter(({ data }) => data.kind !== 'CNAME').map(presentRecord) };
  }
  return { rcode: RCODE.NXDOMAIN, found: [] };
}

it('gives a client what its own walk gives, for any names and lists', async () => {
  const label = fc.constantFrom('a', 'b', 'team-a', 'svc', 'shop');
  const base = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => `${labels.join('.')}.`);
  const domain = fc.constantFrom('corp.example.', 'b.', 'team-a.', 'dev.corp.example.');
  await fc.assert(
    fc.asyncProperty(
      base,
      fc.uniqueArray(domain, { maxLength: 2 }),
      fc.uniqueArray(domain, { maxLength: 1 }),
      fc.dictionary(fc.nat(12).map(String), fc.constantFrom('192.0.2.1', 'nodata', 'servfail'), {
        maxKeys: 4,
      }),
      fc.constantFrom(POD, '10.244.0.9'),
      fc.uniqueArray(label, { maxLength: 2 }),
      async (asked, host, more, chosen, client, services) => {
        const own = ['team-a.svc.cluster.local.', 'svc.cluster.local.', 'cluster.local.'];
        const list = [...new Set([...own, ...host, ...more])];
        const candidates = [...list, ''].map((each) => `${asked}${each}`);
        // A later name of such a walk looks like the first one of another walk. README.md says what is known of these.
        fc.pre(!candidates.slice(1).some((name) => name.endsWith('.team-a.svc.cluster.local.')));
        // Names of the list exist, and perhaps some that only a wrong walk would ask for.
        const others = ['a.', 'b.', 'a.b.', 'shop.corp.example.', 'a.svc.cluster.local.', 'a.corp.example.'];
        const all = [...candidates, ...others];
        const names = Object.fromEntries(
          Object.entries(chosen).map(([index, what]) => [all[Number(index) % all.length] ?? '', what]),
        );
        const world: World = {
          names,
          host,
          client,
          search: { kind: 'cluster', more },
          services: services.map((service) => `${service}.team-a`),
        };
        const byItself = await walk(asked, list, async (name) => findAnswer(names, name));
        const completed = await walk(asked, list, async (name) => (await ask(name, world)).answer);
        expect(completed.rcode).toBe(byItself.rcode);
        expect(completed.found).toEqual(byItself.found);
      },
    ),
    { numRuns: 2000 },
  );
});

it('states only names below the first domain, and only those that are missing', () => {
  const { questions } = handlerFor({ names: {} }).handler;
  expect([...questions.matches()]).toEqual([
    { name: { kind: 'suffix', name: 'svc.cluster.local.' }, types: 'all', ifMissing: true },
  ]);
  expect(questions.includes(key('www.example.org.'), 1)).toBe(false);
});

describe('several clusters', () => {
  const makeCluster = (zone: string, pods: Readonly<Record<string, string>>) => {
    const byAddress = new Map(Object.entries(pods));
    const all = (address: string) => {
      const namespaces = byAddress.get(address)?.split(' ') ?? [];
      return namespaces.map((namespace) => ({ namespace, search: { kind: 'cluster', more: [] } as const }));
    };
    const find = (address: string) => (all(address).length === 1 ? all(address)[0] : undefined);
    const hasService = (namespace: string, name: string) => `${name}.${namespace}` === 'web.team-a';
    const cluster = new ClusterSearch(
      { serviceZones: [key(zone)], searches: { find, all }, hasService },
      false,
    );
    cluster.ownDomains = [];
    return cluster;
  };
  const clusters = [
    makeCluster('one.local.', { '10.1.0.1': 'team-a', '10.9.0.9': 'team-a', '10.9.0.8': 'team-a' }),
    makeCluster('two.local.', { '10.2.0.1': 'team-b', '10.9.0.9': 'team-b', '10.9.0.8': 'team-a team-b' }),
  ];
  const listFor = (name: string, client: string) => listOfSeveral(clusters, key(name), client);

  it('know the list of a pod from its own cluster', () => {
    expect(listFor('www.example.com.team-a.svc.one.local.', '10.1.0.1')?.[0]).toBe('team-a.svc.one.local.');
    expect(listFor('www.example.com.team-b.svc.two.local.', '::ffff:10.2.0.1')?.[0]).toBe(
      'team-b.svc.two.local.',
    );
  });

  it.each([
    ['that no cluster has', 'www.example.com.team-a.svc.one.local.', '10.3.0.1'],
    ['that two clusters have', 'www.example.com.team-a.svc.one.local.', '10.9.0.9'],
    ['that two clusters have, one of them twice', 'www.example.com.team-a.svc.one.local.', '10.9.0.8'],
    ['of another cluster', 'www.example.com.team-b.svc.two.local.', '10.1.0.1'],
    ['for an endpoint of a service', 'x.web.team-a.svc.one.local.', '10.1.0.1'],
  ])('do not know that of an address %s', (_, name, client) => {
    expect(listFor(name, client)).toBeUndefined();
  });
});
