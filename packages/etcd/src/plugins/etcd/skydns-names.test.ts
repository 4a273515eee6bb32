import { parseName, toKey } from '@portolan/dns/name.ts';
import { TYPE } from '@portolan/dns/types.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { Handler } from '@portolan/kernel/chain/handler.ts';
import { namesWithin } from '@portolan/kernel/chain/match.ts';
import { addresses, denial, makeQuery, told } from '@portolan/kernel/chain/testing/queries.ts';
import { DEFAULT_PUBLICATION } from '@portolan/kernel/table/types.ts';
import { expect, it } from 'vitest';
import { withSkyDnsNames } from './skydns-names.ts';

const key = (name: string) => toKey(parseName(name));
const ZONES = [key('skydns.test.'), key('in-addr.arpa.')];

/** Has an address for every name. */
const etcd: Extract<Handler, { role: 'publisher' }> = {
  name: 'etcd',
  role: 'publisher',
  publication: DEFAULT_PUBLICATION,
  questions: namesWithin(new Set(ZONES)),
  answers: 'chain',
  handle: ({ question }) => addresses(question.name, '192.0.2.1'),
};

function wrap(exceptions: readonly string[], local?: string): Handler & { role: 'publisher' } {
  const localName =
    local === undefined ? undefined : { alias: key('local.dns.skydns.test.'), name: key(local) };
  const handler = withSkyDnsNames(etcd, ZONES, { exceptions: exceptions.map(key), localName });
  if (handler.role !== 'publisher') throw new TypeError(handler.role);
  return handler;
}

async function ask(handler: Handler, name: string): Promise<readonly string[]> {
  const others = (): Answer => denial('nxdomain');
  return told(await handler.handle(makeQuery(name, 'A'), others));
}

it('passes on names below stub zones', async () => {
  const handler = wrap(['stub.skydns.test.']);
  expect(await ask(handler, 'web.skydns.test.')).toEqual(
    told(addresses(parseName('web.skydns.test.'), '192.0.2.1')),
  );
  expect(await ask(handler, 'web.Stub.skydns.test.')).toEqual(told(denial('nxdomain')));
});

it('has the local name under its own letters', async () => {
  const handler = wrap([], 'host.skydns.test.');
  expect(await ask(handler, 'Local.dns.skydns.test.')).toEqual(
    told(addresses(parseName('Local.dns.skydns.test.'), '192.0.2.1')),
  );
});

it('looks for the local name in etcd, whatever stub zones there are, but not for one below a stub zone', async () => {
  const found = told(addresses(parseName('local.dns.skydns.test.'), '192.0.2.1'));
  expect(await ask(wrap(['stub.test.'], 'host.stub.test.'), 'local.dns.skydns.test.')).toEqual(found);
  expect(await ask(wrap(['dns.skydns.test.'], 'host.skydns.test.'), 'local.dns.skydns.test.')).toEqual(
    told(denial('nxdomain')),
  );
});

it('keeps readers from its names in the zones of etcd, and only there', () => {
  const { unpublished } = wrap(['stub.skydns.test.', 'arpa.', 'example.org.'], 'host.skydns.test.');
  const asks = (name: string) => unpublished?.includes(key(name), TYPE.A);
  expect(asks('web.stub.skydns.test.')).toBe(true);
  expect(asks('local.dns.skydns.test.')).toBe(true);
  expect(asks('1.2.0.192.in-addr.arpa.')).toBe(true);
  expect(asks('web.skydns.test.')).toBe(false);
  expect(asks('www.example.org.')).toBe(false);
  expect([...(unpublished?.matches() ?? [])].map(({ name }) => name)).toEqual([
    { kind: 'suffix', name: 'stub.skydns.test.' },
    { kind: 'suffix', name: 'in-addr.arpa.' },
    { kind: 'exact', name: 'local.dns.skydns.test.' },
  ]);
});
