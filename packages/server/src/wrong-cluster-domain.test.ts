import { type NameKey, RCODE } from '@portolan/dns/types.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { cachedAddress, wire } from '@portolan/kernel/table/testing/table-answers.ts';
import { TableWriter } from '@portolan/kernel/table/writer.ts';
import { expect, it } from 'vitest';
import { WrongClusterDomains } from './wrong-cluster-domain.ts';

const OWN = ['cluster.local.' as NameKey];
const clock = new ManualClock();

function deny(domains: WrongClusterDomains, name: string, rcode: number = RCODE.NXDOMAIN): void {
  const octets = wire(name);
  domains.observe(octets, 0, octets.length, rcode);
}

it('counts denied services of other cluster domains', () => {
  const domains = new WrongClusterDomains(clock);
  deny(domains, 'before.shop.svc.corp.local.');
  expect(domains.besides(OWN)).toEqual(new Map());
  for (const name of ['cart.shop.svc.corp.local.', 'db.shop.svc.corp.local.', 'cart.shop.svc.cluster.lokal.'])
    deny(domains, name);
  for (const other of [
    'cart.shop.svc.cluster.local.',
    'www.example.com.',
    'svc.',
    'a.b.svc.',
    'a.b.svcs.x.',
    '.',
  ])
    deny(domains, other);
  deny(domains, 'cart.shop.svc.corp.local.', RCODE.NOERROR);
  expect([domains.denials, [...domains.besides(OWN)]]).toEqual([
    3,
    [
      ['corp.local.', 2],
      ['cluster.lokal.', 1],
    ],
  ]);
  clock.advance(601_000);
  expect([domains.denials, domains.besides(OWN)]).toEqual([3, new Map()]);
});

it('names a bounded number of domains, and counts all', () => {
  const domains = new WrongClusterDomains(clock);
  domains.besides(OWN);
  for (let index = 0; index < 100; index++) deny(domains, `a.b.svc.d${index}.`);
  expect([domains.besides(OWN).size, domains.denials]).toEqual([16, 100]);
});

it('sees the answers that a table caches, with their response codes', () => {
  const domains = new WrongClusterDomains(clock);
  const table = new TableWriter({ readers: 1, reservation: 64 * 2 ** 20 });
  table.observeCached((...entry) => domains.observe(...entry));
  domains.besides(OWN);
  const answer = cachedAddress('cart.shop.svc.corp.local.', '192.0.2.1', 60);
  table.cache(answer, 0);
  expect(domains.denials).toBe(0);
  table.cache({ ...answer, body: { ...answer.body, rcode: RCODE.NXDOMAIN } }, 0);
  expect(domains.denials).toBe(1);
});
