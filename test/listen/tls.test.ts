/**
 * DNS over TLS on real sockets: handshakes, resumption, certificates of clients, a new certificate, limits.
 */

import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectByTls, type TLSSocket } from 'node:tls';
import { FrameParser, frame } from '@portolan/dns/frames.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { CLIENT_AUTHENTICATIONS, type TlsIdentity } from '@portolan/kernel/listen/secure/tls-identity.ts';
import type { TcpListener, TcpOptions } from '@portolan/kernel/listen/tcp.ts';
import { queryFor } from '@portolan/testing/client/dns-client.ts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { tlsFixturePath } from '../api-server/tls-fixture.ts';
import { startTcp } from './scripted-listener.ts';

const fixture = (name: string): Buffer => readFileSync(tlsFixturePath(name));

const IDENTITY: TlsIdentity = {
  certificate: fixture('server.crt'),
  key: fixture('server.key'),
  authorities: fixture('authority.crt'),
  clientAuthentication: 'nocert',
};
/** Made by `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 36500 -subj /CN=stranger`. It protects nothing. */
const SELF_SIGNED = {
  certificate: `-----BEGIN CERTIFICATE-----
MIIBfDCCASOgAwIBAgIUdtnJMaRYaSypro46k6JLu1+ALbAwCgYIKoZIzj0EAwIw
EzERMA8GA1UEAwwIc3RyYW5nZXIwIBcNMjYxMTIzMTgwMTIyWhgPMjEyNjEwMzAx
ODAxMjJaMBMxETAPBgNVBAMMCHN0cmFuZ2VyMFkwEwYHKoZIzj0CAQYIKoZIzj0D
AQcDQgAEcKOyUiQPDXqm18oPJitAgIa8mnHVrOwSnPxkwFeJh26zxReFxai//r6U
I79dw3mrIOQRX/hPicrxXNBWi/lyoaNTMFEwHQYDVR0OBBYEFObgD6nOIeYZc1vP
0vl2AFHTQTJhMB8GA1UdIwQYMBaAFObgD6nOIeYZc1vP0vl2AFHTQTJhMA8GA1Ud
EwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDRwAwRAIgIsBvT7EgyG0UxG4XOKOV+GPf
5OCa66gXBwSLUnwpD4YCICV3UPq6LWjzBo1bIi02SEvwu1d1NIfm9En0dB6Un2lA
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgcmnePa5sqP4MRdf8
mefs4nkAG2YwYuoYDdIut/frV76hRANCAARwo7JSJA8NeqbXyg8mK0CAhryacdWs
7BKc/GTAV4mHbrPFF4XFqL/+vpQjv13Deasg5BFf+E+JyvFc0FaL+XKh
-----END PRIVATE KEY-----
`,
};
const OTHER: TlsIdentity = {
  ...IDENTITY,
  certificate: Buffer.from(SELF_SIGNED.certificate),
  key: Buffer.from(SELF_SIGNED.key),
};
const CLIENT = { cert: fixture('client.crt'), key: fixture('client.key') };

async function startTls(
  identity: Partial<TlsIdentity> = {},
  changes: Partial<TcpOptions> = {},
): Promise<TcpListener> {
  return await startTcp({ encryption: { identity: { ...IDENTITY, ...identity } }, ...changes });
}

const getPort = (listener: TcpListener): number => listener.endpoints[0]?.port ?? 0;

/** A client that has asked, and what came of it. */
interface Asked {
  readonly socket: TLSSocket;
  readonly answers: Buffer[];
  readonly sessions: Buffer[];
  fault: string | undefined;
  isClosed: boolean;
}

function askByTls(listener: TcpListener, options: ConnectionOptions = {}): Asked {
  const socket = connectByTls({
    host: '127.0.0.1',
    port: getPort(listener),
    servername: 'localhost',
    ca: IDENTITY.authorities,
    checkServerIdentity: () => undefined,
    ...options,
  });
  const asked: Asked = { socket, answers: [], sessions: [], fault: undefined, isClosed: false };
  const parser = new FrameParser();
  socket.on('data', (octets) => {
    parser.push(octets);
    for (let one = parser.next(); one !== undefined; one = parser.next())
      asked.answers.push(Buffer.from(one));
  });
  socket.on('session', (session) => asked.sessions.push(session));
  socket.on('error', ({ message }) => {
    asked.fault = message;
  });
  socket.on('close', () => {
    asked.isClosed = true;
  });
  socket.write(frame(queryFor('fast.example', 7)));
  onTestFinished(() => void socket.destroy());
  return asked;
}

async function answered(asked: Asked): Promise<Asked> {
  await waitUntil('an answer over TLS', () => asked.answers.length > 0);
  return asked;
}

function connectPlainly(listener: TcpListener): { readonly socket: Socket; isClosed: boolean } {
  const socket = connect({ host: '127.0.0.1', port: getPort(listener) });
  const client = { socket, isClosed: false };
  socket.on('error', () => {});
  socket.on('data', () => {});
  socket.on('close', () => {
    client.isClosed = true;
  });
  onTestFinished(() => void socket.destroy());
  return client;
}

describe('queries over TLS', () => {
  it.each(['TLSv1.2', 'TLSv1.3'] as const)('are answered by %s', async (version) => {
    const { socket, answers } = await answered(
      askByTls(await startTls(), { minVersion: version, maxVersion: version }),
    );
    expect(socket.getProtocol()).toBe(version);
    expect(answers[0]?.readUInt16BE(0)).toBe(7);
  });

  it('are answered out of order, slow ones too', async () => {
    const asked = await answered(askByTls(await startTls()));
    asked.socket.write(Buffer.concat([1, 2, 3].map((id) => frame(queryFor(`slow${id}`, id)))));
    await waitUntil('all answers', () => asked.answers.length === 4);
    expect(asked.answers.map((answer) => answer.readUInt16BE(0)).sort()).toEqual([1, 2, 3, 7]);
  });

  it('are all answered where each comes in a record of its own, many at once', async () => {
    const asked = await answered(askByTls(await startTls({}, { limits: { queries: 1000 } })));
    const ids = Array.from({ length: 300 }, (_, id) => id);
    // More records than are read ahead; `toil` lets them wait for each other.
    for (const id of ids) asked.socket.write(frame(queryFor(id < 3 ? 'toil.example' : 'fast.example', id)));
    await waitUntil('all answers', () => asked.answers.length === 1 + ids.length);
    expect(asked.answers.slice(1).map((answer) => answer.readUInt16BE(0))).toEqual(ids);
  });

  it('are refused by versions before 1.2', async () => {
    const asked = askByTls(await startTls(), {
      minVersion: 'TLSv1.1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    });
    await waitUntil('the refusal', () => asked.isClosed);
    expect(asked.answers).toEqual([]);
  });

  it('agree on the protocol dot, and on no other', async () => {
    const listener = await startTls();
    const { socket } = await answered(askByTls(listener, { ALPNProtocols: ['dot'] }));
    expect(socket.alpnProtocol).toBe('dot');
    const other = askByTls(listener, { ALPNProtocols: ['h2'] });
    await waitUntil('the refusal', () => other.isClosed);
    expect(other.fault).toMatch(/no application protocol/);
  });
});

describe('a session', () => {
  async function receiveSession(listener: TcpListener, options: ConnectionOptions): Promise<Buffer> {
    const asked = await answered(askByTls(listener, options));
    await waitUntil('a session', () => asked.sessions.length > 0);
    asked.socket.end();
    const [session] = asked.sessions;
    if (session === undefined) throw new RangeError('no session');
    return session;
  }

  it.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'of %s is resumed, also after a new certificate',
    async (version) => {
      const only = { minVersion: version, maxVersion: version };
      const listener = await startTls();
      const session = await receiveSession(listener, only);
      expect((await answered(askByTls(listener, { ...only, session }))).socket.isSessionReused()).toBe(true);
      listener.renew(OTHER);
      expect((await answered(askByTls(listener, { ...only, session }))).socket.isSessionReused()).toBe(true);
    },
  );

  it('of a day ago is not resumed', async () => {
    const clock = new ManualClock();
    const listener = await startTls({}, { clock });
    const session = await receiveSession(listener, {});
    clock.advance(24 * 3_600_000 + 1);
    expect((await answered(askByTls(listener, { session }))).socket.isSessionReused()).toBe(false);
  });

  it('without a certificate of the client gets nothing where one is required', async () => {
    const listener = await startTls({ clientAuthentication: 'require' });
    const first = askByTls(listener);
    await waitUntil('the refusal', () => first.isClosed);
    const [session] = first.sessions;
    const second = askByTls(listener, session === undefined ? {} : { session });
    await waitUntil('the second refusal', () => second.isClosed);
    expect([...first.answers, ...second.answers]).toEqual([]);
  });
});

describe('a new certificate', () => {
  it('is shown to new clients, and old connections stay', async () => {
    const listener = await startTls();
    const before = await answered(askByTls(listener));
    listener.renew(OTHER);
    const after = await answered(askByTls(listener, { rejectUnauthorized: false }));
    expect(before.socket.getPeerCertificate().subject.CN).toBe('kubernetes');
    expect(after.socket.getPeerCertificate().subject.CN).toBe('stranger');
    before.socket.write(frame(queryFor('fast', 9)));
    await waitUntil('an answer on the old connection', () => before.answers.length === 2);
  });

  it('that does not fit its key leaves the former one', async () => {
    const listener = await startTls();
    expect(() => listener.renew({ ...OTHER, key: IDENTITY.key })).toThrow(/key values mismatch/);
    const { socket } = await answered(askByTls(listener));
    expect(socket.getPeerCertificate().subject.CN).toBe('kubernetes');
  });
});

describe('certificates of clients', () => {
  /** For each demand: whether a client with none, a signed one, and one of a stranger is answered. */
  const EXPECTED: Readonly<Record<(typeof CLIENT_AUTHENTICATIONS)[number], readonly boolean[]>> = {
    nocert: [true, true, true],
    request: [true, true, true],
    require: [false, true, true],
    verify_if_given: [true, true, false],
    require_and_verify: [false, true, false],
  };

  it.each(CLIENT_AUTHENTICATIONS)('%s', async (clientAuthentication) => {
    const listener = await startTls({ clientAuthentication });
    const stranger = { cert: SELF_SIGNED.certificate, key: SELF_SIGNED.key };
    const results: boolean[] = [];
    for (const certificate of [{}, CLIENT, stranger]) {
      const asked = askByTls(listener, certificate);
      await waitUntil('an answer or a refusal', () => asked.answers.length > 0 || asked.isClosed);
      results.push(asked.answers.length > 0);
    }
    expect(results).toEqual(EXPECTED[clientAuthentication]);
  });
});

describe('connections with TLS', () => {
  it('that send no handshake end after the time for a first query, and count', async () => {
    const clock = new ManualClock();
    const listener = await startTls(
      {},
      { clock, limits: { readMilliseconds: 1000, idleMilliseconds: 5000 } },
    );
    const client = connectPlainly(listener);
    await waitUntil('the connection', () => listener.count().open === 1);
    clock.advance(999);
    expect(listener.count().open).toBe(1);
    clock.advance(1);
    await waitUntil('its end', () => client.isClosed);
    expect(listener.count().ended.idle).toBe(1);
  });

  it('that send something else are closed', async () => {
    const listener = await startTls();
    const client = connectPlainly(listener);
    client.socket.write(frame(queryFor('fast', 1)));
    await waitUntil('its end', () => client.isClosed);
    await waitUntil('its place', () => listener.count().open === 0);
    expect(listener.count().ended.handshake).toBe(1);
  });

  it('give way to others before they have shaken hands', async () => {
    const listener = await startTls({}, { limits: { connections: 2, connectionsPerClient: 2 } });
    const idle = [connectPlainly(listener), connectPlainly(listener)];
    await waitUntil('both', () => listener.count().open === 2);
    await answered(askByTls(listener));
    await waitUntil('one that gave way', () => idle.some(({ isClosed }) => isClosed));
    expect(listener.count()).toMatchObject({ open: 2, ended: { evicted: 1 } });
  });

  it('end after an idle time, and when the listener leaves', async () => {
    const clock = new ManualClock();
    const listener = await startTls({}, { clock, limits: { idleMilliseconds: 5000 } });
    const first = await answered(askByTls(listener));
    clock.advance(5001);
    await waitUntil('the idle one to end', () => first.isClosed);
    const second = await answered(askByTls(listener));
    await Promise.all([listener.stop(2000), waitUntil('the other to end', () => second.isClosed)]);
    expect(listener.count().ended).toMatchObject({ idle: 1, leaving: 1 });
  });
});
