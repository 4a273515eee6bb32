import { parseName, toKey } from '@portolan/dns/name.ts';
import { Query } from '@portolan/kernel/chain/query.ts';
import { CLIENT, makeQuery } from '@portolan/kernel/chain/testing/queries.ts';
import { NOTHING_RESTORED } from '@portolan/kernel/deviations/table.ts';
import { describe, expect, it } from 'vitest';
import { PodIdentities } from '../../names/pod-identities.ts';
import type { PodObject } from '../../objects/objects.ts';
import { QueryFacts } from './query-facts.ts';

const ZONES = ['cluster.local.', 'in-addr.arpa.'].map((zone) => toKey(parseName(zone)));
const PARTS = ['endpoint', 'kind', 'namespace', 'port-name', 'protocol', 'service', 'parse-error'];

function pod(name: string, address: string, labels: Record<string, string> = {}): PodObject {
  const identity = { namespace: 'shop', name, labels: new Map(Object.entries(labels)) };
  return { kind: 'Pod', ...identity, addresses: [address] };
}

function makeFacts(pods: readonly PodObject[] = [], restored = NOTHING_RESTORED) {
  const identities = new PodIdentities();
  identities.listStarted();
  for (const each of pods) identities.upsert(each);
  identities.listCompleted();
  return new QueryFacts(ZONES, identities, restored);
}

function ask(facts: QueryFacts, label: string, address: string): { fact: string | undefined; query: Query } {
  const asked = makeQuery('example.com.');
  const query = new Query(
    asked.question,
    { header: asked.header, question: asked.question, edns: undefined },
    { ...CLIENT, address },
  );
  return { fact: facts.fact(query, label), query };
}

describe('a name by zone', () => {
  const parts = (name: string, isZonal: boolean) => {
    const facts = new QueryFacts(ZONES, undefined, NOTHING_RESTORED, isZonal);
    const query = makeQuery(name);
    return ['zone', 'service', 'namespace', 'kind', 'parse-error'].map((part) =>
      facts.fact(query, `kubernetes/${part}`),
    );
  };

  it.each([
    ['zone-a.pin._zone.cart.shop.svc.cluster.local.', ['zone-a', 'cart', 'shop', 'svc', undefined]],
    ['a.b.prefer._zone.cart.shop.svc.cluster.local.', ['a.b', 'cart', 'shop', 'svc', undefined]],
    ['cart.shop.svc.cluster.local.', ['', 'cart', 'shop', 'svc', undefined]],
    [
      'a.other._zone.cart.shop.svc.cluster.local.',
      [undefined, undefined, undefined, undefined, 'invalid query name'],
    ],
  ])('%s', (name, expected) => {
    expect(parts(name, true)).toEqual(expected);
  });

  it('has no zone without the option', () => {
    expect(parts('cart.shop.svc.cluster.local.', false)[0]).toBeUndefined();
  });
});

describe('a name', () => {
  it.each([
    ['cart.shop.svc.cluster.local.', ['', 'svc', 'shop', '', '', 'cart', undefined]],
    ['_http._tcp.cart.shop.svc.cluster.local.', ['', 'svc', 'shop', 'http', 'tcp', 'cart', undefined]],
    ['db-0.db.data.svc.cluster.local.', ['db-0', 'svc', 'data', '', '', 'db', undefined]],
    ['10-0-0-1.shop.pod.cluster.local.', ['', 'pod', 'shop', '', '', '10-0-0-1', undefined]],
    ['cluster.local.', ['', '', '', '', '', '', undefined]],
    ['svc.cluster.local.', ['', '', '', '', '', '', undefined]],
    ['nosuch.x.cluster.local.', [...Array.from({ length: 6 }), 'invalid query name']],
    ['a.b.c.cart.shop.svc.cluster.local.', [...Array.from({ length: 6 }), 'invalid query name']],
    ['1.0.0.10.in-addr.arpa.', [...Array.from({ length: 6 }), 'invalid query name']],
    ['example.com.', Array.from({ length: 7 })],
  ])('%s', (name, parts) => {
    const facts = makeFacts();
    const query = makeQuery(name);
    expect(PARTS.map((part) => facts.fact(query, `kubernetes/${part}`))).toEqual(parts);
    expect(query.clientWasRead).toBe(false);
  });

  it('has no other labels', () => {
    const query = makeQuery('cart.shop.svc.cluster.local.');
    for (const label of ['kubernetes/constructor', 'kubernetes/', 'other/kind', 'kind'])
      expect(makeFacts().fact(query, label)).toBe(undefined);
  });
});

describe('a client', () => {
  const pods = [pod('web', '10.0.0.1', { color: 'red' }), pod('one', '10.0.0.2'), pod('two', '10.0.0.2')];

  it.each([
    ['10.0.0.1', ['shop', 'web', 'red']],
    ['::ffff:10.0.0.1', ['shop', 'web', 'red']],
    ['10.0.0.3', [undefined, undefined, undefined]],
    // Pods in the network of their node: which of them asks is not known.
    ['10.0.0.2', [undefined, undefined, undefined]],
  ])('%s', (address, expected) => {
    const labels = ['client-namespace', 'client-pod-name', 'client-label/color'];
    const facts = makeFacts(pods);
    expect(labels.map((label) => ask(facts, `kubernetes/${label}`, address).fact)).toEqual(expected);
  });

  it('is one of several pods, as in CoreDNS, where that is restored', () => {
    expect(
      ask(makeFacts(pods, new Set(['client-of-address'])), 'kubernetes/client-pod-name', '10.0.0.2').fact,
    ).toBe('one');
  });

  it('makes answers that depend on it those of this client alone', () => {
    const { query } = ask(makeFacts(pods), 'kubernetes/client-namespace', '10.0.0.1');
    expect(query.clientWasRead).toBe(true);
  });
});
