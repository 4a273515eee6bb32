/**
 * What `portolan` in a Corefile switches on, by the program `coredns`: one feature after the other.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeMessage, encodeMessage } from '@portolan/dns/message.ts';
import { RCODE } from '@portolan/dns/types.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { ask, askShort, exchange, makeQuery } from '@portolan/testing/client/ask.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { reply } from '@portolan/testing/upstream/reply.ts';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { ApiServerDouble } from '../api-server/api-server.ts';
import { namespace, service } from '../list-watch/harness.ts';
import { forwardedByReaders, startCoredns } from '../resolver/forwarding-programs.ts';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';

afterEach(endAllPrograms);

/** Answers all names with an address of this TTL. */
async function startUpstream(ttl: number): Promise<LoopbackUpstream> {
  const upstream = await LoopbackUpstream.start(({ query, send }) => {
    const name = query.questions[0]?.name;
    if (name === undefined) return;
    send(reply(query, { answers: [{ name, class: 1, ttl, data: { kind: 'A', address: '192.0.2.1' } }] }));
  });
  onTestFinished(() => upstream.stop());
  return upstream;
}

const askedFor = ({ queries }: LoopbackUpstream, name: string) =>
  queries.filter(({ query }) => query.questions[0]?.name === name).length;

it('snapshot: answers the names of the cluster at once after a start without an API server', async () => {
  const double = await ApiServerDouble.start({
    objects: [namespace('default'), service('web', '10.96.0.10')],
  });
  onTestFinished(() => double.stop());
  const folder = await makeTemporaryFolder();
  const file = join(folder.path, 'snapshot');
  const port = await findFreePort();
  const kubernetes = `kubernetes cluster.local {\n endpoint ${double.url}\n startup_timeout 60s\n }`;
  const text = `.:${port} {\n bind 127.0.0.1\n portolan {\n snapshot ${file}\n }\n ${kubernetes}\n}\n`;
  const conf = await folder.write('Corefile', text);
  const server = { address: '127.0.0.1', port };
  const start = async () => {
    const program = runPortolan(['coredns', '-conf', conf]);
    await waitUntil('the banner', () => program.output.includes('linux/') || program.ended !== undefined);
    return program;
  };
  const first = await start();
  expect(await askShort(server, 'web.default.svc.cluster.local', 'A')).toBe('10.96.0.10');
  first.signal('SIGTERM');
  await first.exit;
  await access(file);
  await double.stop();
  const began = performance.now();
  const second = await start();
  expect(await askShort(server, 'web.default.svc.cluster.local', 'A')).toBe('10.96.0.10');
  // Names that it does not have may exist by now.
  const { header } = await ask(server, 'new.default.svc.cluster.local', 'A');
  expect(header.rcode).toBe(RCODE.SERVFAIL);
  expect(performance.now() - began).toBeLessThan(30_000);
  second.signal('SIGTERM');
  expect(await second.exit).toMatchObject({ code: 0 });
});

/** A client at an address of loopback, with the responses to its queries. */
async function clientAt(address: string, port: number) {
  const socket = createSocket('udp4');
  socket.bind(0, address);
  await once(socket, 'listening');
  const heard: string[] = [];
  socket.on('message', (octets) => heard.push(describe(octets)));
  onTestFinished(() => void socket.close());
  const send = () => socket.send(encodeMessage(makeQuery('a.test', 'A')), port, '127.0.0.1');
  return {
    heard,
    send,
    /** @returns the response code, or `truncated` */
    async ask(): Promise<string> {
      const { length } = heard;
      send();
      await waitUntil(`a response to ${address}`, () => heard.length > length);
      return heard.at(-1) ?? '';
    },
  };
}

function describe(octets: Uint8Array): string {
  const { header } = decodeMessage(octets);
  return header.truncated ? 'truncated' : String(header.rcode);
}

async function askByTcpFrom(source: string, port: number, name: string): Promise<string> {
  const options = { transport: 'tcp', from: source } as const;
  return describe(await exchange({ address: '127.0.0.1', port }, makeQuery(name, 'A'), options));
}

it('clients: refuses and ignores clients, by UDP and TCP, and follows changed rules', async () => {
  const template = 'template IN A {\n answer "{{ .Name }} 60 IN A 192.0.2.7"\n }';
  const rules = (lines: string) => `portolan {\n ${lines}\n }\n ${template}`;
  const { server, change } = await startCoredns(
    rules('clients refuse 127.0.0.2\n clients drop 127.0.0.0/30\n clients allow 127.0.0.1'),
  );
  const at = (last: number) => clientAt(`127.0.0.${last}`, server.port);
  const one = await at(1);
  const refused = await at(2);
  const ignored = await at(3);
  const other = await at(9);
  ignored.send();
  expect([await one.ask(), await refused.ask(), await other.ask(), await one.ask()]).toEqual([
    '0',
    '5',
    '0',
    '0',
  ]);
  expect(ignored.heard).toEqual([]);
  expect(await askByTcpFrom('127.0.0.2', server.port, 'a.test')).toBe('5');
  await change(rules('clients refuse 127.0.0.9'));
  expect([await one.ask(), await refused.ask(), await ignored.ask()]).toEqual(['0', '0', '0']);
  expect(await other.ask()).toBe('5');
  expect(await askByTcpFrom('127.0.0.9', server.port, 'a.test')).toBe('5');
  await change(template);
  expect([await other.ask(), await askByTcpFrom('127.0.0.9', server.port, 'a.test')]).toEqual(['0', '0']);
});

it('rate: truncates what a client asks beyond it', async () => {
  const upstream = await startUpstream(60);
  const portolan = 'portolan {\n rate queries 1\n rate slip 1\n }';
  const { server } = await startCoredns(`${portolan}\n cache\n forward . 127.0.0.1:${upstream.port}`);
  const two = await clientAt('127.0.0.2', server.port);
  const three = await clientAt('127.0.0.3', server.port);
  two.send();
  two.send();
  // One of them is within the rate, and the other one is not, whichever is answered first.
  await waitUntil('both responses', () => two.heard.length === 2);
  expect(two.heard.toSorted()).toEqual(['0', 'truncated']);
  expect(await three.ask()).toBe('0');
  expect(await askByTcpFrom('127.0.0.2', server.port, 'a.test')).toBe('0');
});

it('admission: refuses more questions in flight than its total', async () => {
  const upstream = await LoopbackUpstream.start(() => {});
  onTestFinished(() => upstream.stop());
  const portolan = 'portolan {\n admission total 4\n admission queued 0\n }';
  const { server, metrics } = await startCoredns(`${portolan}\n forward . 127.0.0.1:${upstream.port}`);
  const names = Array.from({ length: 20 }, (_, index) => `n${index}.test`);
  const answers = names.map((name) => ask(server, name, 'A').then(({ header }) => header.rcode));
  const rcodes = await Promise.all(answers);
  expect(rcodes.filter((rcode) => rcode === RCODE.REFUSED).length).toBeGreaterThanOrEqual(16);
  expect(rcodes).toContain(RCODE.SERVFAIL);
  expect(await metrics()).toMatch(/^coredns_forward_max_concurrent_rejects_total 1[6-9]$/m);
});

it('stale: serves an expired answer when the servers fail', async () => {
  const upstream = await startUpstream(1);
  const block = (portolan: string) =>
    `${portolan}\n cache {\n success 9984 3600 1\n }\n forward . 127.0.0.1:${upstream.port}`;
  const { server, metrics } = await startCoredns(block('portolan {\n stale 1h 300ms\n }'));
  expect(await askShort(server, 'a.test', 'A')).toBe('192.0.2.1');
  upstream.react = () => {};
  let answer = await ask(server, 'a.test', 'A');
  for (const end = performance.now() + 20_000; answer.answers[0]?.ttl !== 30 && performance.now() < end; )
    answer = await ask(server, 'a.test', 'A');
  expect(answer.answers[0]).toMatchObject({ ttl: 30, data: { address: '192.0.2.1' } });
  expect(await metrics()).toMatch(/^coredns_cache_served_stale_total\{.*\} [1-9]/m);
});

it('prefetch: asks again for an answer in use before it ends, while readers forward and answer', async () => {
  const upstream = await startUpstream(10);
  const { server, metrics } = await startCoredns(
    `portolan {\n prefetch\n }\n cache\n forward . 127.0.0.1:${upstream.port}`,
  );
  for (let index = 0; index < 20; index += 1) await askShort(server, `n${index}.test`, 'A');
  expect(await forwardedByReaders(metrics)).toBeGreaterThan(10);
  // Only this one is asked for again. A busy machine may look for it too late, and then has another chance.
  const prefetched = /^coredns_cache_prefetch_total\{server="dns:.*",.*\} [1-9]/m;
  for (const end = performance.now() + 50_000; !prefetched.test(await metrics()); ) {
    expect(performance.now()).toBeLessThan(end);
    expect(await askShort(server, 'n0.test', 'A')).toBe('192.0.2.1');
  }
  expect(askedFor(upstream, 'n0.test.')).toBeGreaterThan(1);
  expect(askedFor(upstream, 'n1.test.')).toBe(1);
});

it('hedge: asks the second server for a question that is late, in the order of policy sequential', async () => {
  const first = await startUpstream(60);
  const second = await startUpstream(60);
  const block = (hedge: string) =>
    `${hedge}\n cache\n forward . 127.0.0.1:${first.port} 127.0.0.1:${second.port} {\n policy sequential\n }`;
  const { server, metrics } = await startCoredns(block('portolan {\n hedge on\n }'));
  for (let index = 0; index < 100; index += 1) await askShort(server, `n${index}.test`, 'A');
  expect(await forwardedByReaders(metrics)).toBeGreaterThan(50);
  expect(askedFor(second, 'n99.test.')).toBe(0);
  const { react } = first;
  // By order alone the second is asked after 400 ms.
  first.react = (received) => void setTimeout(() => react(received), 300);
  for (let index = 0; index < 10; index += 1) await askShort(server, `late${index}.test`, 'A');
  const hedged = second.queries.filter(({ query }) => query.questions[0]?.name.startsWith('late'));
  expect(hedged.length).toBeGreaterThan(0);
});
