/**
 * Reader threads forward for `dnsmasq` and `skydns` too, which have no metrics or need etcd: in the test's own process.
 */
import { RCODE } from '@portolan/dns/types.ts';
import { DnsmasqFrontEnd } from '@portolan/frontends/dnsmasq/run/dnsmasq-front-end.ts';
import { readDnsmasqOptions } from '@portolan/frontends/dnsmasq/settings/read-configuration.ts';
import { memorySources } from '@portolan/frontends/dnsmasq/settings/testing/memory-sources.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { LocalNamesPlugin } from '@portolan/plugins/local-names/local-names.ts';
import { ask, askShort } from '@portolan/testing/client/ask.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { reply } from '@portolan/testing/upstream/reply.ts';
import { beforeAll, expect, it } from 'vitest';
import { ADDRESS, Scene, type Surroundings } from '../plan-changes/scene.ts';
import { startSkyDns } from '../plan-changes/view-servers.ts';
import { bundleServerThreads } from '../support/bundle-thread.ts';
import { bundleDouble } from '../support/double-process.ts';
import { itWithTool } from '../support/tools.ts';
import {
  askWithOptions,
  makeName,
  NAMES,
  OF_ONE_HOP,
  OF_SERVERS,
  startUpstream,
} from './forwarding-programs.ts';

let surroundings: Surroundings;

beforeAll(async () => {
  const readerEntry = await bundleServerThreads();
  surroundings = { readerEntry, doubleEntry: await bundleDouble() };
});

/** @param words further options */
async function startDnsmasq(scene: Scene, upstream: string, ...words: readonly string[]) {
  const port = await findFreePort(ADDRESS);
  const own = ['--no-resolv', '--no-hosts', '-k', '--bind-interfaces', `--listen-address=${ADDRESS}`];
  const all = [...own, `--port=${port}`, `--server=${upstream.replace(':', '#')}`, ...words];
  const reading = readDnsmasqOptions(all, memorySources());
  if (reading.kind !== 'good') throw new Error(JSON.stringify(reading));
  const { clock, log, version } = scene.dependencies;
  const frontEnd = new DnsmasqFrontEnd(reading.plan, {
    interfaces: () => ({}),
    udpReaders: 1,
    version,
    clock,
    log,
    findHostsFile: (record) => scene.engine.find(LocalNamesPlugin)?.handlers.findHostsFile(record),
  });
  await scene.serve({ frontEnd, port, change: () => {}, names: [] });
  return { address: ADDRESS, port };
}

it('of dnsmasq, but for its own names', async () => {
  const upstream = await startUpstream();
  const scene = new Scene(surroundings);
  const server = await startDnsmasq(scene, upstream.address, '--host-record=own.example,10.0.0.1');
  for (let index = 0; index < NAMES; index += 1)
    expect(await askShort(server, makeName(index), 'A')).toBe('192.0.2.1');
  expect(scene.engine.readerPath.countForwarded().reader).toBeGreaterThan(NAMES / 2);
  expect(await askShort(server, 'own.example', 'A')).toBe('10.0.0.1');
  expect((await ask(server, 'missing.example', 'A')).header.rcode).toBe(RCODE.NXDOMAIN);
  const asked = upstream.questions.length;
  for (let index = 0; index < NAMES; index += 1) await askShort(server, makeName(index), 'A');
  expect(upstream.questions.length).toBe(asked);
  expect(upstream.questions.filter((name) => name.startsWith('own'))).toEqual([]);
});

it('of dnsmasq and its cache, whatever EDNS options a query has', async () => {
  const upstream = await startUpstream();
  const scene = new Scene(surroundings);
  const server = await startDnsmasq(scene, upstream.address);
  for (const [options, first] of [
    [OF_ONE_HOP, 0],
    [[...OF_SERVERS, ...OF_ONE_HOP], 0],
    [OF_SERVERS, NAMES],
  ] as const)
    for (let index = 0; index < NAMES; index += 1)
      expect(await askWithOptions(server, makeName(first + index), options)).toEqual({
        address: '192.0.2.1',
        options: [],
      });
  expect(scene.engine.readerPath.countForwarded().reader).toBeGreaterThan(NAMES * 1.5);
});

it('of dnsmasq with several servers, to the fastest, which all are asked to find', async () => {
  const upstreams = [await startUpstream(), await startUpstream()];
  const scene = new Scene(surroundings);
  const [first, second] = upstreams.map(({ address }) => address);
  const server = await startDnsmasq(scene, first ?? '', `--server=${second?.replace(':', '#')}`);
  for (let index = 0; index < 2 * NAMES; index += 1)
    expect(await askShort(server, makeName(index), 'A')).toBe('192.0.2.1');
  expect(scene.engine.readerPath.countForwarded().reader).toBeGreaterThan(NAMES);
  for (const { questions } of upstreams) expect(questions).toContain(`${makeName(0)}. A`);
});

it('of dnsmasq, which asks again only when the client does', async () => {
  let isLost = true;
  const upstream = await LoopbackUpstream.start(({ query, send }) => {
    const name = query.questions[0]?.name;
    if (isLost && name === 'lost.example.') return;
    const data = { kind: 'A', address: '192.0.2.5' } as const;
    if (name !== undefined) send(reply(query, { answers: [{ name, class: 1, ttl: 60, data }] }));
  });
  const scene = new Scene(surroundings);
  const server = await startDnsmasq(scene, `${ADDRESS}:${upstream.port}`);
  for (let index = 0; index < NAMES; index += 1) await askShort(server, makeName(index), 'A');
  expect(scene.engine.readerPath.countForwarded().reader).toBeGreaterThan(NAMES / 2);
  const queries = () => upstream.queries.filter(({ query }) => query.questions[0]?.name === 'lost.example.');
  const first = ask(server, 'lost.example', 'A', { deadline: 1500 }).catch(() => 'no answer');
  expect(await first).toBe('no answer');
  expect(queries()).toHaveLength(1);
  isLost = false;
  expect(await askShort(server, 'lost.example', 'A')).toBe('192.0.2.5');
  expect(queries()).toHaveLength(2);
  await upstream.stop();
});

itWithTool(['etcd'], 'of skydns', async () => {
  const scene = new Scene(surroundings);
  const { port } = await startSkyDns(scene);
  const server = { address: ADDRESS, port };
  for (let index = 0; index < NAMES; index += 1)
    expect((await ask(server, makeName(index), 'A')).header.rcode).toBe(RCODE.NOERROR);
  const { readerPath } = scene.engine;
  const before = readerPath.countForwarded().reader;
  expect(before).toBeGreaterThan(NAMES / 2);
  for (const [index, option] of [...OF_SERVERS, ...OF_ONE_HOP].entries())
    expect((await askWithOptions(server, makeName(NAMES + index), [option])).options).toEqual([]);
  expect(readerPath.countForwarded().reader).toBeGreaterThan(
    before + (OF_SERVERS.length + OF_ONE_HOP.length) / 2,
  );
  expect((await ask(server, 'single', 'A')).header.rcode).toBe(RCODE.SERVFAIL);
  expect((await ask(server, 'a.skydns.test', 'A')).header.authoritative).toBe(true);
});
