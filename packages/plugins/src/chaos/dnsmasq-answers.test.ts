import { CLASS } from '@portolan/dns/types.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import { makeQuery, told } from '@portolan/kernel/chain/testing/queries.ts';
import { expect, it } from 'vitest';
import { createChaosHandler } from './chaos.ts';
import { answerAsDnsmasq } from './dnsmasq-answers.ts';
import type { DnsmasqIdentity } from './options.ts';

const passed: Answer = { kind: 'drop' };
const server = { server: '192.0.2.1#53', queries: 7, failed: 1 };
let servers = [server, { ...server, server: '2001:db8::1#5353' }];

const identity = {
  version: 'portolan-1.2.3',
  authors: 'somebody',
  copyright: 'their own',
  hostName: 'kube-dns-7',
};
const stats = () => ({ cacheSize: 150, insertions: 1, evictions: 2, misses: 3, hits: 4, servers });

function create(options: Partial<DnsmasqIdentity> = {}) {
  const all = { kind: 'dnsmasq', identifies: true, ttl: 9, cacheSize: 150, ...options } as const;
  return createChaosHandler(answerAsDnsmasq(all, identity, stats));
}

const handler = create();

const ask = (name: string, type = 'TXT', dnsClass: number = CLASS.CH) =>
  handler.handle(makeQuery(name, type, dnsClass), () => passed);

it.each([
  ['version.bind.', '9 CH TXT "portolan-1.2.3"'],
  ['Authors.BIND.', '9 CH TXT "somebody"'],
  ['copyright.bind.', '9 CH TXT "their own"'],
  ['cachesize.bind.', '0 CH TXT "150"'],
  ['insertions.bind.', '0 CH TXT "1"'],
  ['evictions.bind.', '0 CH TXT "2"'],
  ['misses.bind.', '0 CH TXT "3"'],
  ['hits.bind.', '0 CH TXT "4"'],
  ['auth.bind.', '0 CH TXT "0"'],
  ['servers.bind.', '0 CH TXT "192.0.2.1#53 7 1" "2001:db8::1#5353 7 1"'],
])('%s', async (name, record) => {
  for (const type of ['TXT', 'ANY'])
    expect(told(await ask(name, type))).toEqual(['records', `${name} ${record}`]);
});

it('has a record of an empty string where there are no servers', async () => {
  servers = [];
  expect(told(await ask('servers.bind.'))).toEqual(['records', 'servers.bind. 0 CH TXT ""']);
});

it.each([
  ['nobody.bind.', 'TXT'],
  ['version.bind.', 'A'],
  ['www.example.', 'TXT'],
])('does not know %s %s', async (name, type) => {
  expect(await ask(name, type)).toEqual({ kind: 'notimp' });
});

it('leaves other classes to others', async () => {
  expect(await ask('version.bind.', 'TXT', CLASS.IN)).toBe(passed);
});

it('knows nothing where it is not to identify itself', async () => {
  const silent = create({ identifies: false });
  expect(await silent.handle(makeQuery('version.bind.', 'TXT', CLASS.CH), () => passed)).toEqual({
    kind: 'notimp',
  });
});

it('knows the names of the host where it is to, and leaves all further names to others without counts', async () => {
  const named = create({ namesHost: true, version: 'all', hasCounts: false });
  const askNamed = async (name: string, type = 'TXT') =>
    named.handle(makeQuery(name, type, CLASS.CH), () => passed);
  expect(told(await askNamed('hostname.bind.'))).toEqual(['records', 'hostname.bind. 9 CH TXT "kube-dns-7"']);
  expect(told(await askNamed('id.server.'))).toEqual(['records', 'id.server. 9 CH TXT "kube-dns-7"']);
  expect(told(await askNamed('version.server.'))).toEqual([
    'records',
    'version.server. 9 CH TXT "portolan-1.2.3"',
  ]);
  for (const name of ['hits.bind.', 'nobody.bind.']) expect(await askNamed(name)).toBe(passed);
  expect(await askNamed('hostname.bind.', 'A')).toBe(passed);
  expect(await ask('hostname.bind.')).toEqual({ kind: 'notimp' });
});

it('hides its version where it is to', async () => {
  const handler = create({ version: 'none', hasCounts: false });
  for (const name of ['version.bind.', 'version.server.'])
    expect(await handler.handle(makeQuery(name, 'TXT', CLASS.CH), () => passed)).toBe(passed);
});
