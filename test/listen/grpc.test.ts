/**
 * DNS over gRPC on real sockets, with Node's client of HTTP/2: what is answered, what is refused, limits.
 */

import { readFileSync } from 'node:fs';
import { type ClientHttp2Session, connect, type OutgoingHttpHeaders } from 'node:http2';
import { encodeDnsPacket } from '@portolan/kernel/base/grpc/dns-packet.ts';
import { encodeGrpcFrame } from '@portolan/kernel/base/grpc/grpc-frames.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import type { TcpListener, TcpOptions } from '@portolan/kernel/listen/tcp.ts';
import { queryFor } from '@portolan/testing/client/dns-client.ts';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { tlsFixturePath } from '../api-server/tls-fixture.ts';
import { begin, call, type GrpcReply, receive } from './grpc-client.ts';
import { answerAuthoritatively, HeldAnswers } from './scripted-answers.ts';
import { startTcp } from './scripted-listener.ts';
import { TcpClient } from './tcp-client.ts';

const fixture = (name: string): Buffer => readFileSync(tlsFixturePath(name));
const IDENTITY = { certificate: fixture('server.crt'), key: fixture('server.key'), authorities: undefined };

interface Scene {
  readonly listener: TcpListener;
  readonly port: number;
}

async function startGrpc(changes: Partial<TcpOptions> = {}): Promise<Scene> {
  const listener = await startTcp({ protocol: { kind: 'grpc' }, ...changes });
  return { listener, port: listener.endpoints[0]?.port ?? 0 };
}

function open(origin: string): ClientHttp2Session {
  const session = connect(origin, { ca: fixture('authority.crt') });
  session.on('error', () => {});
  onTestFinished(() => void session.destroy());
  return session;
}

const openPlain = ({ port }: Scene): ClientHttp2Session => open(`http://127.0.0.1:${port}`);

const packetFor = (name: string, id = 0): Buffer => encodeDnsPacket(queryFor(name, id));

function expectedFor(name: string, id = 0): Buffer {
  const response = queryFor(name, id);
  response[2] = name.startsWith('fast') ? 0x81 : 0x85;
  return response;
}

describe('a query over gRPC', () => {
  it('is answered at once and later, over one connection', async () => {
    const scene = await startGrpc();
    const session = openPlain(scene);
    for (const name of ['fast.example', 'slow.example'])
      expect(await call(session, packetFor(name, 7))).toEqual({
        httpStatus: 200,
        code: 0,
        details: '',
        messages: [expectedFor(name, 7)],
      });
    for (const type of ['application/grpc+proto', 'application/grpc;charset=utf-8'])
      expect(await call(session, packetFor('fast'), { 'content-type': type })).toMatchObject({ code: 0 });
    expect(scene.listener.count()).toMatchObject({ open: 1, queries: 4 });
    await waitUntil('all octets to be free', () => scene.listener.count().heldOctets === 0);
  });

  it('is answered over TLS, with clients that agree on h2 alone', async () => {
    const { port } = await startGrpc({
      encryption: { identity: { ...IDENTITY, clientAuthentication: 'nocert' } },
    });
    expect(await call(open(`https://localhost:${port}`), packetFor('fast'))).toMatchObject({ code: 0 });
  });

  it('is answered before the client ends its side, and the rest is not waited for', async () => {
    const scene = await startGrpc();
    const session = openPlain(scene);
    for (const name of ['fast.example', 'slow.example']) {
      const stream = begin(session);
      const reply = receive(stream);
      stream.write(packetFor(name));
      expect(await reply).toMatchObject({ code: 0, messages: [expectedFor(name)] });
      stream.end();
    }
    const twice = Buffer.concat([packetFor('fast', 1), packetFor('fast', 2)]);
    expect((await call(session, twice)).messages).toEqual([expectedFor('fast', 1)]);
    const thenGarbage = Buffer.concat([packetFor('fast', 1), Buffer.from('ffffffffff', 'hex')]);
    expect((await call(session, thenGarbage)).messages).toEqual([expectedFor('fast', 1)]);
  });

  it('may be as large as a DNS message, and so may its answer', async () => {
    const session = openPlain(await startGrpc());
    const query = Buffer.concat([queryFor('slow', 3), Buffer.alloc(65_535)]).subarray(0, 65_535);
    const { messages } = await call(session, encodeDnsPacket(query));
    expect(messages[0]?.equals(answerAuthoritatively(query))).toBe(true);
  });

  it('that has waited too long gets SERVFAIL', async () => {
    const scene = await startGrpc({ timeouts: { queue: 0, discard: 0 } });
    const { messages } = await call(openPlain(scene), packetFor('slow'));
    expect((messages[0]?.[3] ?? 0) & 15).toBe(2);
    expect(scene.listener.count().expired).toBe(1);
  });

  it('is answered after the listener began to leave, and the connection ends', async () => {
    const held = new HeldAnswers();
    const scene = await startGrpc({
      handleQuery: held.handleQuery,
    });
    const session = openPlain(scene);
    const asked = call(session, packetFor('slow'));
    await waitUntil('the question', () => held.count === 1);
    const stopped = scene.listener.stop(5000);
    held.release();
    expect(await asked).toMatchObject({ code: 0 });
    await stopped;
    await waitUntil('the end', () => session.closed);
    expect(scene.listener.count()).toMatchObject({ open: 0, ended: { leaving: 1 } });
  });
});

describe('a call that asks nothing', () => {
  const response = queryFor('fast', 1);
  response[2] = 0x80;
  const tooLarge = Buffer.alloc(5);
  tooLarge.writeUInt32BE(65_540, 1);
  const compressed = Buffer.from(packetFor('fast'));
  compressed[0] = 1;
  const refused: readonly (readonly [
    what: string,
    body: Buffer,
    headers: OutgoingHttpHeaders,
    reply: Partial<GrpcReply>,
  ])[] = [
    ['another method of HTTP', packetFor('fast'), { ':method': 'PUT' }, { httpStatus: 405, code: 13 }],
    [
      'another content type',
      packetFor('fast'),
      { 'content-type': 'text/plain' },
      { httpStatus: 415, code: 3 },
    ],
    [
      'no content type',
      packetFor('fast'),
      { 'content-type': 'application/grpcx' },
      { httpStatus: 415, code: 3 },
    ],
    ['another method', packetFor('fast'), { ':path': '/coredns.dns.DnsService/Other' }, { code: 12 }],
    ['another service', packetFor('fast'), { ':path': '/Query' }, { code: 12 }],
    ['a compression', packetFor('fast'), { 'grpc-encoding': 'gzip' }, { code: 12 }],
    ['a compressed message', compressed, {}, { code: 13 }],
    ['a message that is too large', tooLarge, {}, { code: 8 }],
    ['no message', Buffer.alloc(0), {}, { code: 2, details: 'EOF' }],
    ['a cut message', packetFor('fast').subarray(0, 12), {}, { code: 2, details: 'EOF' }],
    ['no packet', encodeGrpcFrame(Buffer.from([10, 9, 1])), {}, { code: 13 }],
    [
      'an empty packet',
      encodeGrpcFrame(Buffer.alloc(0)),
      {},
      { code: 2, details: 'dns: buffer size too small' },
    ],
    ['no query', encodeDnsPacket(response), {}, { code: 2, details: 'dns request rejected' }],
    ['a query without a response', packetFor('drop'), {}, { code: 13, details: 'No response' }],
  ];

  it.each(refused)('is refused for %s, and the connection stays', async (_, body, headers, reply) => {
    const scene = await startGrpc();
    const session = openPlain(scene);
    expect(await call(session, body, headers)).toMatchObject({ httpStatus: 200, messages: [], ...reply });
    expect(await call(session, packetFor('fast'))).toMatchObject({ code: 0 });
    expect(scene.listener.count().open).toBe(1);
    await waitUntil('all octets to be free', () => scene.listener.count().heldOctets === 0);
  });

  it('is refused before its client ends it', async () => {
    const scene = await startGrpc();
    const session = openPlain(scene);
    for (const [headers, body] of [
      [{ ':path': '/other' }, undefined],
      [{}, tooLarge],
    ] as const) {
      const stream = begin(session, headers);
      const reply = receive(stream);
      if (body !== undefined) stream.write(body);
      expect((await reply).code).toBe(body === undefined ? 12 : 8);
      stream.end();
    }
    await waitUntil('all octets to be free', () => scene.listener.count().heldOctets === 0);
  });
});

describe('a connection of gRPC', () => {
  it('takes so many calls at a time, answered out of order', async () => {
    const held = new HeldAnswers();
    const scene = await startGrpc({
      limits: { owed: 5 },
      handleQuery: held.handleQuery,
    });
    const session = openPlain(scene);
    await new Promise((resolve) => session.once('remoteSettings', resolve));
    expect(session.remoteSettings.maxConcurrentStreams).toBe(5);
    const slow = Array.from({ length: 4 }, (_, id) => call(session, packetFor('slow', id)));
    await waitUntil('four questions', () => held.count === 4);
    expect(await call(session, packetFor('fast'))).toMatchObject({ code: 0 });
    held.release();
    const ids = (await Promise.all(slow)).map(({ messages }) => messages[0]?.readUInt16BE(0));
    expect(ids).toEqual([0, 1, 2, 3]);
  });

  it('carries as many calls as the most streams of CoreDNS', async () => {
    const scene = await startGrpc({ limits: { owed: 256 } });
    const session = openPlain(scene);
    await new Promise((resolve) => session.once('remoteSettings', resolve));
    const large = (id: number) => encodeDnsPacket(Buffer.concat([queryFor('slow', id), Buffer.alloc(1500)]));
    const replies = await Promise.all(Array.from({ length: 256 }, (_, id) => call(session, large(id))));
    expect(replies.map(({ code }) => code)).toEqual(replies.map(() => 0));
  });

  it('gives the room of calls that are given up to others', async () => {
    const held = new HeldAnswers();
    const scene = await startGrpc({
      limits: { owed: 3 },
      handleQuery: held.handleQuery,
    });
    const session = openPlain(scene);
    for (let id = 0; id < 5; id += 1) {
      const stream = begin(session);
      stream.end(packetFor('slow', id));
      await waitUntil('the question', () => held.count === 1);
      stream.close();
      expect(await call(session, packetFor('fast'))).toMatchObject({ code: 0 });
      held.release();
    }
    await waitUntil('all octets to be free', () => scene.listener.count().heldOctets === 0);
  });

  it('leaves its place once its client is gone, with calls in progress', async () => {
    const scene = await startGrpc({ clock: new ManualClock(), handleQuery: () => new Promise(() => {}) });
    const session = openPlain(scene);
    await call(session, packetFor('fast'));
    begin(session).end(packetFor('slow'));
    begin(session).write(packetFor('slow').subarray(0, 9));
    await waitUntil('the octets', () => scene.listener.count().queries === 2);
    session.destroy();
    await waitUntil('its place', () => scene.listener.count().open === 0);
    expect(scene.listener.count()).toMatchObject({ heldOctets: 0, ended: { client: 1 } });
  });

  it('ends after so many queries, and after the idle time', async () => {
    const clock = new ManualClock();
    const scene = await startGrpc({ clock, limits: { queries: 2, idleMilliseconds: 5000 } });
    const first = openPlain(scene);
    for (let count = 0; count < 2; count += 1)
      expect(await call(first, packetFor('fast'))).toMatchObject({ code: 0 });
    await waitUntil('the end', () => first.closed);
    const second = openPlain(scene);
    expect(await call(second, packetFor('fast'))).toMatchObject({ code: 0 });
    await waitUntil('all octets to be free', () => scene.listener.count().heldOctets === 0);
    clock.advance(5001);
    await waitUntil('the end', () => second.closed);
    await waitUntil('its place', () => scene.listener.count().open === 0);
    expect(scene.listener.count().ended).toMatchObject({ queries: 1, idle: 1 });
  });

  it('ends where it asks nothing in time: with a call that does not end, or without a word', async () => {
    const clock = new ManualClock();
    const scene = await startGrpc({ clock, limits: { readMilliseconds: 3000 } });
    const session = openPlain(scene);
    begin(session).write(packetFor('fast').subarray(0, 9));
    const silent = new TcpClient(scene.port, '127.0.0.1');
    await waitUntil('the octets', () => scene.listener.count().heldOctets === 9);
    await waitUntil('both', () => scene.listener.count().open === 2);
    clock.advance(3001);
    // The call never ends: the time for ending connections is over, too.
    clock.advance(2001);
    await waitUntil('the end', () => session.closed && (silent.isEnded || silent.isClosed));
    await waitUntil('their places', () => scene.listener.count().open === 0);
    expect(scene.listener.count()).toMatchObject({ heldOctets: 0, ended: { idle: 2 } });
  });

  it('holds so many octets of calls that do not end', async () => {
    const scene = await startGrpc({ limits: { octetsPerConnection: 300_000 } });
    const session = openPlain(scene);
    const unfinished = encodeDnsPacket(Buffer.alloc(65_000)).subarray(0, 60_000);
    for (let count = 0; count < 10; count += 1) begin(session).write(unfinished);
    await waitUntil('the end', () => scene.listener.count().ended.unread === 1);
    expect(scene.listener.count().heldOctets).toBe(0);
  });

  it('holds so many octets of answers that are not read', async () => {
    const long = Buffer.alloc(60_000);
    const scene = await startGrpc({
      handleQuery: async () => long,
      limits: { octetsPerConnection: 300_000 },
    });
    const session = openPlain(scene);
    for (let id = 0; id < 50; id += 1) begin(session).end(packetFor('slow', id));
    await waitUntil('the end', () => scene.listener.count().ended.unread === 1);
    expect(scene.listener.count().heldOctets).toBe(0);
  });

  it('ends with what is no HTTP/2', async () => {
    const scene = await startGrpc();
    const client = new TcpClient(scene.port, '127.0.0.1');
    client.send(queryFor('fast', 1));
    await waitUntil('the end', () => client.isEnded || client.isClosed);
    await waitUntil('its place', () => scene.listener.count().open === 0);
  });

  it('survives bodies of any octets, cut anywhere', async () => {
    const scene = await startGrpc();
    const session = openPlain(scene);
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 40 }).map(Buffer.from),
      fc.constantFrom(packetFor('fast'), packetFor('slow'), packetFor('drop'), packetFor('throw')),
      fc.uint8Array({ maxLength: 40 }).map(encodeGrpcFrame),
      fc.uint8Array({ maxLength: 40 }).map(encodeDnsPacket),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { maxLength: 4 }),
        fc.nat({ max: 60 }),
        fc.boolean(),
        async (pieces, cut, ends) => {
          const body = Buffer.concat(pieces);
          const stream = begin(session);
          const reply = receive(stream);
          stream.write(body.subarray(0, cut));
          if (ends) stream.end(body.subarray(cut));
          else stream.close(8);
          const { code, messages } = await reply;
          if (ends) expect(code).toBeTypeOf('number');
          expect(messages.length).toBe(code === 0 ? 1 : 0);
        },
      ),
    );
    expect(await call(session, packetFor('fast'))).toMatchObject({ code: 0 });
    await waitUntil('all octets to be free', () => scene.listener.count().heldOctets === 0);
    expect(scene.listener.count()).toMatchObject({ open: 1 });
  });
});
