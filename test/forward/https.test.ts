/**
 * Queries over HTTPS to a server made with Node.js (RFC 8484).
 */
import { copyFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { decodeMessage, encodeMessage } from '@portolan/dns/message.ts';
import { parseName } from '@portolan/dns/name.ts';
import { CLASS, type Message, RCODE, TYPE } from '@portolan/dns/types.ts';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { DEFAULT_FORWARD_PLAN, defaultRule } from '@portolan/kernel/forward/forward-plan.ts';
import { Forwarder } from '@portolan/kernel/forward/forwarder.ts';
import { TlsTrustFiles } from '@portolan/kernel/forward/tls-trust-files.ts';
import { parseUpstream } from '@portolan/kernel/forward/upstream-address.ts';
import { expect, it, onTestFinished } from 'vitest';
import { readTlsFixture, tlsFixturePath } from '../api-server/tls-fixture.ts';
import { ask, connect, readQueryOctets, TRUST } from './asked-over-http.ts';

const QUESTION = { name: parseName('www.example.'), type: TYPE.A, class: CLASS.IN };

interface Heard {
  readonly method: string | undefined;
  readonly type: string | undefined;
  readonly query: Message;
}

/**
 * A server that gives each query back as its response, with another status where one is given.
 *
 * @param spoil what it does with a request in place of that, by its number, from 1; false: nothing
 */
async function serve(
  status = 200,
  spoil: (number: number, response: ServerResponse) => boolean = () => false,
): Promise<{ server: Server; port: number; heard: Heard[]; sockets: Duplex[]; connections: () => number }> {
  const heard: Heard[] = [];
  const sockets: Duplex[] = [];
  let connections = 0;
  const server: Server = createServer(readTlsFixture('server'), async (request, response) => {
    const query = decodeMessage(await readQueryOctets(request, request.url ?? ''));
    heard.push({ method: request.method, type: request.headers['content-type'], query });
    if (spoil(heard.length, response)) return;
    response.writeHead(status, { 'content-type': 'application/dns-message' });
    response.end(encodeMessage({ ...query, header: { ...query.header, response: true } }));
  });
  server.on('connection', (socket) => sockets.push(socket));
  server.on('secureConnection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    server,
    port: (server.address() as AddressInfo).port,
    heard,
    sockets,
    connections: () => connections,
  };
}

it.each([
  ['POST', 'application/dns-message'],
  ['GET', undefined],
] as const)('asks by %s, again on the same connection', async (method, type) => {
  const { port, heard, connections } = await serve();
  const transport = connect(port, { method });
  for (let turn = 0; turn < 2; turn += 1) {
    const reply = await ask(transport);
    expect(typeof reply === 'object' && reply.header).toMatchObject({ response: true, rcode: RCODE.NOERROR });
  }
  expect(heard.map((each) => [each.method, each.type, each.query.questions[0]?.name])).toEqual([
    [method, type, 'www.example.'],
    [method, type, 'www.example.'],
  ]);
  expect(connections()).toBe(1);
});

const close = (response: ServerResponse) => response.socket?.destroy() !== undefined;
const cut = (response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'application/dns-message', 'content-length': 100 });
  response.write(Buffer.alloc(20), () => response.socket?.destroy());
  return true;
};

it.each([
  ['closes the connection that it kept', close],
  ['ends in the middle of a reply', cut],
])('asks again at once where the server %s', async (_, spoil) => {
  const { port, heard, connections } = await serve(
    200,
    (number, response) => number === 2 && spoil(response),
  );
  const transport = connect(port);
  for (let turn = 0; turn < 2; turn += 1) expect(await ask(transport)).toMatchObject({ answers: [] });
  expect([heard.length, connections()]).toEqual([3, 2]);
});

it('keeps its other connections where one fails', async () => {
  const { port, sockets } = await serve();
  const transport = connect(port);
  const askTwice = async () => await Promise.all([ask(transport), ask(transport)]);
  for (const reply of await askTwice()) expect(reply).toMatchObject({ answers: [] });
  const [first, second] = sockets;
  second?.write('no record of TLS');
  await waitUntil('the end of the second connection', () => second?.destroyed === true);
  for (const reply of await askTwice()) expect(reply).toMatchObject({ answers: [] });
  expect([first?.destroyed, sockets.length]).toEqual([false, 3]);
});

it('closes its connections where no other can be opened: the server may have HTTP/2 alone by now', async () => {
  const held: ServerResponse[] = [];
  const { server, port, sockets } = await serve(200, (_, response) => held.push(response) > 0);
  server.keepAliveTimeout = 0;
  const transport = connect(port);
  const first = ask(transport);
  await waitUntil('the first query', () => held.length === 1);
  server.maxConnections = 1;
  expect(await ask(transport)).toBe('ECONNRESET');
  held[0]?.writeHead(503).end();
  expect(await first).toBe('HTTP status 503');
  await waitUntil('the end of the first connection', () => sockets[0]?.destroyed === true);
});

it('fails where the server closes each connection', async () => {
  const { port, heard } = await serve(200, (_, response) => close(response));
  expect(await ask(connect(port))).toBe('ECONNRESET');
  expect(heard.length).toBe(2);
});

it('fails with another status than 200, and with a certificate of no trusted authority', async () => {
  const { port } = await serve(503);
  expect(await ask(connect(port))).toBe('HTTP status 503');
  const { port: other } = await serve();
  const untrusting = connect(other, {
    tls: { serverName: undefined, trust: { certificates: { authorities: undefined } } },
  });
  expect(await ask(untrusting)).toMatch(/CERT|SIGNATURE|ISSUER/);
});

it('trusts what its files hold when a connection begins, and resumes no session of before', async () => {
  const { port, sockets } = await serve();
  const folder = await makeTemporaryFolder();
  const put = (from: string) => copyFile(tlsFixturePath(from), join(folder.path, 'ca.crt'));
  await put('authority.crt');
  const clock = new ManualClock();
  const log = new RecordingLog();
  const trust = new TlsTrustFiles({ authorities: join(folder.path, 'ca.crt') }, { clock, log });
  const transport = connect(port, { tls: { serverName: undefined, trust } });
  const askOnNewConnection = async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    clock.advance(10_000);
    return await ask(transport);
  };
  expect(await askOnNewConnection()).toMatchObject({ header: { response: true } });
  await put('client.crt');
  expect(await askOnNewConnection()).toMatch(/CERT|SIGNATURE|ISSUER/);
  await put('authority.crt');
  expect(await askOnNewConnection()).toMatchObject({ header: { response: true } });
  expect(log.records).toEqual([]);
});

it('is a server of every front end: `https://ADDRESS#NAME`', async () => {
  const { port, heard } = await serve();
  const forwarder = new Forwarder(
    {
      ...DEFAULT_FORWARD_PLAN,
      loopDetection: false,
      tls: TRUST,
      rules: [defaultRule([parseUpstream(`https://127.0.0.1:${port}`)])],
    },
    { clock: systemClock, log: new RecordingLog(), resolveName: () => Promise.reject(new Error('no names')) },
  );
  onTestFinished(() => forwarder.stop());
  const question = { ...QUESTION, dnssecOk: false, checkingDisabled: false, recursionDesired: true };
  const reply = await forwarder.resolve(question, { address: '' });
  expect(reply).toMatchObject({ kind: 'reply', upstream: `https://127.0.0.1:${port}` });
  expect(heard.map(({ method, query }) => [method, query.questions])).toEqual([['POST', [QUESTION]]]);
});
