/**
 * Reader threads forward in every front end: the program counts the queries of each kind of thread, and clients get the answers of
 * their front end.
 */
import { createSocket } from 'node:dgram';
import { parseName } from '@portolan/dns/name.ts';
import { CLASS, RCODE, TYPE } from '@portolan/dns/types.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { writeQuery } from '@portolan/kernel/forward/transport/query-message.ts';
import { ask, askShort } from '@portolan/testing/client/ask.ts';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { endAllPrograms } from '../support/portolan.ts';
import {
  type Answering,
  askWithOptions,
  forwardedByReaders,
  makeName,
  NAMES,
  OF_ONE_HOP,
  OF_SERVERS,
  startCoredns,
  startKubeDns,
  startNodeCache,
  startServe,
  startUpstream,
} from './forwarding-programs.ts';
import { TrainUpstream } from './train-upstream.ts';

afterEach(endAllPrograms);

describe('questions for addresses are forwarded by reader threads', () => {
  it.each([
    ['serve', startServe],
    ['coredns', (upstream: string) => startCoredns(`cache 30\n forward . ${upstream}`)],
    ['coredns without cache', (upstream: string) => startCoredns(`forward . ${upstream}`)],
    ['node-cache', startNodeCache],
  ])('of %s', async (_, start) => {
    const upstream = await startUpstream();
    const { server, metrics } = await start(upstream.address);
    for (let index = 0; index < NAMES; index += 1)
      expect(await askShort(server, makeName(index), 'A')).toBe('192.0.2.1');
    // The first ones may come before a reader knows where to ask.
    expect(await forwardedByReaders(metrics)).toBeGreaterThan(NAMES / 2);
  });
});

describe('questions with EDNS options are as cheap as those without', () => {
  const COREDNS = ['nsid', 'expire', ...OF_ONE_HOP];
  it.each([
    ['serve', startServe, [], []],
    ['kube-dns', startKubeDns, [], []],
    ['coredns', (up: string) => startCoredns(`cache 30\n forward . ${up}`), OF_ONE_HOP, COREDNS],
    ['coredns without cache', (up: string) => startCoredns(`forward . ${up}`), undefined, undefined],
    ['node-cache', startNodeCache, OF_ONE_HOP, COREDNS],
  ])('in %s', async (_, start, forwarded, cached) => {
    const upstream = await startUpstream();
    const { server, metrics } = await start(upstream.address);
    for (let index = 0; index < NAMES; index += 1) {
      const { address, options } = await askWithOptions(server, makeName(index), OF_ONE_HOP);
      expect([address, options]).toEqual(['192.0.2.1', forwarded ?? expect.anything()]);
    }
    const forwardedOfOneHop = await forwardedByReaders(metrics);
    expect(forwardedOfOneHop).toBeGreaterThan(NAMES / 2);
    for (let index = 0; index < NAMES; index += 1)
      for (const [place, option] of OF_SERVERS.entries()) {
        const { address } = await askWithOptions(server, makeName((place + 1) * NAMES + index), [option]);
        expect(address).toBe('192.0.2.1');
      }
    const asked = OF_SERVERS.length * NAMES;
    expect(await forwardedByReaders(metrics)).toBeGreaterThan(forwardedOfOneHop + asked / 2);
    if (cached === undefined) return;
    const slow = async () => /^portolan_slow_path_queries_total (\d+)/m.exec(await metrics())?.[1];
    // A scrape takes in what readers have told clients.
    const before = await slow();
    for (let index = 0; index < NAMES; index += 1) {
      const all = [...OF_SERVERS, ...OF_ONE_HOP];
      const { address, options } = await askWithOptions(server, makeName(index), all);
      expect([address, options]).toEqual(['192.0.2.1', cached]);
    }
    expect(await slow()).toBe(before);
  });
});

describe('what readers have told clients is in the next scrape of', () => {
  const ENTRIES = /^coredns_cache_entries\{.*\} (\d+)$/gm;
  it.each([
    ['serve', startServe, /^portolan_cache_insertions_total (\d+)$/gm],
    ['coredns', (upstream: string) => startCoredns(`cache 30\n forward . ${upstream}`), ENTRIES],
    ['node-cache', startNodeCache, ENTRIES],
  ])('%s', async (_, start, samples) => {
    const upstream = await startUpstream();
    const { server, metrics } = await start(upstream.address);
    const kept = async () =>
      [...(await metrics()).matchAll(samples)].reduce((sum, [, count]) => sum + Number(count), 0);
    for (let count = 1; count <= NAMES / 4; count += 1) {
      await askShort(server, makeName(count), 'A');
      await askShort(server, `missing-${count}.example`, 'A');
      expect(await kept()).toBe(2 * count);
    }
  });
});

describe('a Corefile', () => {
  it('has answers of readers as its cache says, and counts them', async () => {
    const upstream = await startUpstream();
    const acl = 'acl blocked.test {\n block net *\n }';
    const { server, metrics } = await startCoredns(`${acl}\n cache 30\n forward . ${upstream.address}`);
    const first = await ask(server, makeName(0), 'A');
    const again = await ask(server, makeName(0), 'A');
    expect(first.answers.map(({ ttl }) => ttl)).toEqual([30]);
    expect([first.header.authoritative, again.header.authoritative]).toEqual([false, true]);
    const denied = await ask(server, 'missing.example', 'A');
    expect(denied.header).toMatchObject({ rcode: RCODE.NXDOMAIN, recursionAvailable: true });
    expect(denied.authorities.map(({ ttl }) => ttl)).toEqual([30]);
    for (let index = 1; index < NAMES; index += 1) await askShort(server, makeName(index), 'A');
    const readCount = async (sample: RegExp) => Number(sample.exec(await metrics())?.[1]);
    expect(await readCount(/^coredns_cache_misses_total\{.*\} (\d+)/m)).toBe(NAMES + 1);
    expect(await readCount(/^coredns_dns_responses_total\{.*rcode="NOERROR",plugin="forward"\} (\d+)/m)).toBe(
      NAMES,
    );
    expect(await forwardedByReaders(metrics)).toBeGreaterThan(NAMES / 2);
    for (const counted of [
      'acl_allowed_requests_total',
      'cache_requests_total',
      'dns_request_size_bytes_count',
    ])
      expect(await readCount(new RegExp(`^coredns_${counted}\\{.*\\} (\\d+)`, 'm')), counted).toBe(NAMES + 2);
  });

  it('has the families of every role for what it forwards, which do not fall when it changes', async () => {
    const upstream = await startUpstream();
    const lines = (ttl: number) => `cache ${ttl}\n forward . ${upstream.address}`;
    const { server, metrics, change } = await startCoredns(lines(30));
    for (let index = 0; index < NAMES; index += 1) await askShort(server, makeName(index), 'A');
    const readCount = async (sample: RegExp) => Number(sample.exec(await metrics())?.[1]);
    const families = [
      /^portolan_upstream_queries_total\{upstream="127[^"]*"\} (\d+)$/m,
      /^portolan_upstream_results_total\{upstream="127[^"]*",result="NOERROR"\} (\d+)$/m,
      /^portolan_forward_duration_seconds_count (\d+)$/m,
      /^portolan_udp_packets_total (\d+)$/m,
    ];
    const before = await Promise.all(families.map(readCount));
    for (const count of before) expect(count).toBeGreaterThanOrEqual(NAMES);
    await change(lines(60));
    await askShort(server, makeName(NAMES), 'A');
    for (const [place, family] of families.entries())
      expect(await readCount(family), String(family)).toBeGreaterThan(before[place] ?? 0);
  });

  it('with hosts has readers ask for names that they do not have, and bounds the TTLs of those that they have', async () => {
    const upstream = await startUpstream();
    const hosts = 'hosts {\n 192.0.2.9 own.example\n 192.0.2.8 *.wild.example\n ttl 60\n fallthrough\n }';
    const { server, metrics } = await startCoredns(`cache 30\n ${hosts}\n forward . ${upstream.address}`);
    for (let index = 0; index < NAMES; index += 1)
      expect(await askShort(server, makeName(index), 'A')).toBe('192.0.2.1');
    expect(await forwardedByReaders(metrics)).toBeGreaterThan(NAMES / 2);
    const { answers } = await ask(server, 'own.example', 'A');
    expect(answers.map(({ ttl }) => ttl)).toEqual([30]);
    expect(await askShort(server, 'any.wild.example', 'A')).toBe('192.0.2.8');
    expect(upstream.questions.filter((asked) => /own|wild/.test(asked))).toEqual([]);
  });

  it.each([
    ['prefetch', 'cache {\n prefetch 2 1m 20%\n }'],
    ['minimal', 'cache 30\n minimal'],
    ['nsid', 'cache 30\n nsid node-1'],
    ['header', 'cache 30\n header {\n response set aa\n response clear ra\n query set rd\n }'],
    ['all of them', 'cache {\n prefetch 2\n }\n minimal\n nsid\n header {\n response set aa\n }'],
  ])('has readers forward with %s', async (_, lines) => {
    const upstream = await startUpstream();
    const { server, metrics } = await startCoredns(`${lines}\n forward . ${upstream.address}`);
    for (let index = 0; index < NAMES; index += 1)
      expect(await askShort(server, makeName(index), 'A')).toBe('192.0.2.1');
    expect(await forwardedByReaders(metrics)).toBeGreaterThan(NAMES / 2);
    const asked = upstream.questions.length;
    for (let index = 0; index < NAMES; index += 1)
      expect(await askShort(server, makeName(index), 'A')).toBe('192.0.2.1');
    expect(upstream.questions.length).toBe(asked);
  });

  it('has readers change the flags of replies as its header says', async () => {
    const upstream = await startUpstream();
    const header = 'header {\n response set aa\n response clear ra rd\n }';
    const { server, metrics } = await startCoredns(`${header}\n cache 30\n forward . ${upstream.address}`);
    const flags = { authoritative: true, recursionAvailable: false, recursionDesired: false };
    for (let index = 0; index < NAMES; index += 1)
      expect((await ask(server, makeName(index), 'A')).header).toMatchObject(flags);
    expect(await forwardedByReaders(metrics)).toBeGreaterThan(NAMES / 2);
    expect((await ask(server, makeName(0), 'A')).header).toMatchObject({ recursionAvailable: false });
  });

  it('with prefetch counts each question for a new answer, and asks again before a popular one ends', async () => {
    const upstream = await startUpstream();
    const cache = 'cache {\n success 9984 4 1\n prefetch 2 1m 90%\n }';
    const { server, metrics } = await startCoredns(`${cache}\n forward . ${upstream.address}`);
    const asked = (name: string) => upstream.questions.filter((each) => each.startsWith(name)).length;
    for (let index = 0; index < NAMES; index += 1) await askShort(server, makeName(index), 'A');
    expect(await forwardedByReaders(metrics)).toBeGreaterThan(NAMES / 2);
    // With the whole TTL as the last part of it, the second hit makes an answer popular and due.
    for (const index of [1, 0, 0]) await askShort(server, makeName(index), 'A');
    await waitUntil('the refresh', () => asked(makeName(0)) > 1);
    expect(await metrics()).toMatch(/^coredns_cache_prefetch_total\{.*\} 1$/m);
    expect(asked(makeName(1))).toBe(1);
  });

  it('without cache asks for each question, however soon it comes again', async () => {
    const upstream = await startUpstream();
    const { server, metrics } = await startCoredns(`forward . ${upstream.address}`);
    for (let index = 0; index < 2 * NAMES; index += 1)
      expect(await askShort(server, makeName(0), 'A')).toBe('192.0.2.1');
    expect(await forwardedByReaders(metrics)).toBeGreaterThan(NAMES);
    expect(upstream.questions.length).toBeGreaterThanOrEqual(2 * NAMES);
  });

  it('without cache has the TTLs that the server gave', async () => {
    const upstream = await startUpstream();
    const { server } = await startCoredns(`forward . ${upstream.address}`);
    const { answers } = await ask(server, makeName(0), 'A');
    expect(answers.map(({ ttl }) => ttl)).toEqual([300]);
  });

  it('has readers ask any of several servers', async () => {
    const upstreams = [await startUpstream(), await startUpstream()];
    const servers = upstreams.map((each) => each.address).join(' ');
    const { server, metrics } = await startCoredns(`cache 30\n forward . ${servers}`);
    for (let index = 0; index < NAMES; index += 1) await askShort(server, makeName(index), 'A');
    expect(await forwardedByReaders(metrics)).toBeGreaterThan(NAMES / 2);
    for (const { questions } of upstreams) expect(questions.length).toBeGreaterThan(NAMES / 10);
  });

  it('leaves its own names to its plugins', async () => {
    const upstream = await startUpstream();
    const own = `template IN A own.test {\n answer "{{ .Name }} 60 IN A 198.51.100.1"\n }`;
    const { server } = await startCoredns(`cache 30\n ${own}\n forward . ${upstream.address}`);
    expect(await askShort(server, 'a.own.test', 'A')).toBe('198.51.100.1');
    expect(await askShort(server, makeName(0), 'A')).toBe('192.0.2.1');
    expect(upstream.questions.filter((asked) => asked.includes('own.test'))).toEqual([]);
  });

  it('changes while readers forward, and answers every query', async () => {
    const upstream = await startUpstream();
    const lines = (ttl: number) => `cache ${ttl}\n forward . ${upstream.address}`;
    const { server, change } = await startCoredns(lines(30));
    const answers: Promise<string>[] = [];
    let isChanging = true;
    const changing = (async () => {
      for (const ttl of [20, 10, 30, 20]) await change(lines(ttl));
      isChanging = false;
    })();
    for (let index = 0; isChanging || index < 200; index += 1) {
      answers.push(askShort(server, makeName(index % 400), 'A'));
      if (index % 8 === 7) await answers.at(-1);
    }
    await changing;
    expect(new Set(await Promise.all(answers))).toEqual(new Set(['192.0.2.1']));
  });
});

/** More than leave from sockets of their own. */
const AT_ONCE = 200;
/** Trains in a row without a reply after which a server is sent no more: see `train-support.ts`. */
const LOST_IN_A_ROW = 4;

/** Asks for new names at once. @returns the response codes */
async function askAtOnce({ server, program }: Answering, round: string): Promise<readonly number[]> {
  const socket = createSocket('udp4');
  onTestFinished(() => void socket.close());
  const rcodes: number[] = [];
  socket.on('message', (response) => rcodes.push((response[3] ?? 0) & 0x0f));
  const flags = { dnssecOk: false, checkingDisabled: false, recursionDesired: true };
  // So that all have come before the first is read.
  program.signal('SIGSTOP');
  for (let index = 0; index < AT_ONCE; index += 1) {
    const name = parseName(`${round}-${String(index).padStart(3, '0')}.example.`);
    const { octets } = writeQuery({ name, type: TYPE.A, class: CLASS.IN, ...flags }, undefined);
    octets[1] = index;
    await new Promise((sent) => socket.send(octets, server.port, server.address, sent));
  }
  program.signal('SIGCONT');
  await waitUntil('all answers', () => rcodes.length === AT_ONCE);
  return rcodes;
}

const ALL_ANSWERED = Array.from({ length: AT_ONCE }, () => RCODE.NOERROR);

describe('questions of one moment leave in trains', () => {
  it.each([
    ['serve', startServe],
    ['coredns', (upstream: string) => startCoredns(`cache 30\n forward . ${upstream}`)],
    ['node-cache', startNodeCache],
  ])('of %s', async (_, start) => {
    const upstream = TrainUpstream.start();
    const answering = await start(upstream.address);
    expect(await askShort(answering.server, makeName(0), 'A')).toBe('192.0.2.1');
    expect(await askAtOnce(answering, 'one')).toEqual(ALL_ANSWERED);
    expect(Math.max(...upstream.trains)).toBeGreaterThan(4);
  });

  it('but not to a server that does not get them', async () => {
    const upstream = TrainUpstream.start();
    // Each reader finds out for itself.
    const answering = await startServe(upstream.address, '--udp-readers', '1');
    expect(await askShort(answering.server, makeName(0), 'A')).toBe('192.0.2.1');
    upstream.losesTrains = true;
    // How many trains the questions of one moment make is up to chance: sockets are drawn, and those that are free again are used.
    for (let round = 0; upstream.trains.length < LOST_IN_A_ROW; round += 1)
      expect(await askAtOnce(answering, `lost-${round}`)).toEqual(ALL_ANSWERED);
    const lost = upstream.trains.length;
    expect(await askAtOnce(answering, 'last')).toEqual(ALL_ANSWERED);
    expect(upstream.trains.slice(lost)).toEqual([]);
  });
});
