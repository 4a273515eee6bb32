/**
 * DNS over HTTPS on real sockets: HTTP/2 and HTTP/1.1, GET and POST, what is refused, caching, limits.
 */

import { readFileSync } from 'node:fs';
import { type IncomingHttpHeaders, request as requestPlainly } from 'node:http';
import { type ClientHttp2Session, connect as connectByHttp2 } from 'node:http2';
import { Agent, request } from 'node:https';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import type { TcpListener, TcpOptions } from '@portolan/kernel/listen/tcp.ts';
import { queryFor } from '@portolan/testing/client/dns-client.ts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { tlsFixturePath } from '../api-server/tls-fixture.ts';
import { HeldAnswers, ScriptedAnswers } from './scripted-answers.ts';
import { startTcp } from './scripted-listener.ts';

const fixture = (name: string): Buffer => readFileSync(tlsFixturePath(name));
const AUTHORITY = fixture('authority.crt');

interface Scene {
  readonly listener: TcpListener;
  readonly origin: string;
  readonly statuses: number[];
}

async function startHttps(changes: Partial<TcpOptions> = {}): Promise<Scene> {
  const statuses: number[] = [];
  const identity = { certificate: fixture('server.crt'), key: fixture('server.key') };
  const listener = await startTcp({
    encryption: { identity: { ...identity, authorities: undefined, clientAuthentication: 'nocert' } },
    protocol: { kind: 'https', onResponse: (status) => void statuses.push(status) },
    ...changes,
  });
  return { listener, origin: `https://localhost:${listener.endpoints[0]?.port}`, statuses };
}

interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A request; a body makes it a POST. */
interface Wanted {
  readonly path: string;
  readonly method?: string;
  readonly body?: Buffer;
  readonly type?: string;
}

/** Sends requests over one connection. */
interface HttpClient {
  ask(wanted: Wanted): Promise<Reply>;
  readonly isClosed: () => boolean;
}

function openHttp2(origin: string): HttpClient & { readonly session: ClientHttp2Session } {
  const session = connectByHttp2(origin, { ca: AUTHORITY });
  session.on('error', () => {});
  onTestFinished(() => void session.destroy());
  return {
    session,
    isClosed: () => session.closed,
    ask: ({ path, body, type, method = body === undefined ? 'GET' : 'POST' }) =>
      new Promise((resolve, reject) => {
        const headers = type === undefined ? {} : { 'content-type': type };
        const stream = session.request({ ':path': path, ':method': method, ...headers });
        const pieces: Buffer[] = [];
        let reply: Omit<Reply, 'body'> = { status: 0, headers: {} };
        stream.on('response', (headers) => {
          reply = { status: headers[':status'] ?? 0, headers };
        });
        stream.on('data', (piece) => pieces.push(piece));
        stream.on('end', () => resolve({ ...reply, body: Buffer.concat(pieces) }));
        stream.on('error', reject);
        stream.end(body);
      }),
  };
}

function openHttp1(origin: string): HttpClient {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: AUTHORITY });
  onTestFinished(() => agent.destroy());
  let sockets = 0;
  let closed = 0;
  return {
    isClosed: () => sockets === closed,
    ask: ({ path, body, type, method = body === undefined ? 'GET' : 'POST' }) =>
      new Promise((resolve, reject) => {
        const headers = type === undefined ? {} : { 'content-type': type };
        const asking = origin.startsWith('https:')
          ? request(origin + path, { method, agent, headers })
          : requestPlainly(origin + path, { method, headers });
        asking.on('socket', (socket) => {
          if (socket.listenerCount('close', countClosed) > 0) return;
          sockets += 1;
          socket.on('close', countClosed);
        });
        asking.on('response', (response) => {
          const pieces: Buffer[] = [];
          response.on('data', (piece) => pieces.push(piece));
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              body: Buffer.concat(pieces),
            }),
          );
        });
        asking.on('error', reject);
        asking.end(body);
      }),
  };

  function countClosed(): void {
    closed += 1;
  }
}

const pathFor = (name: string, id = 0): string =>
  `/dns-query?dns=${queryFor(name, id).toString('base64url')}`;

const PROTOCOLS = { 'HTTP/2': openHttp2, 'HTTP/1.1': openHttp1 } as const;

it.each(Object.entries(PROTOCOLS))(
  'over %s, a query that has waited too long gets SERVFAIL',
  async (_, open) => {
    const { listener, origin } = await startHttps({ timeouts: { queue: 0, discard: 0 } });
    const client = open(origin);
    for (const [name, code] of [
      ['slow.example', 2],
      ['fast.example', 0],
    ] as const) {
      const { status, body } = await client.ask({ path: pathFor(name) });
      expect([status, body.readUInt8(3) & 15]).toEqual([200, code]);
    }
    expect(listener.count().expired).toBe(1);
  },
);

describe.each(Object.entries(PROTOCOLS))('a query over %s', (_, open) => {
  it('is refused if its body is something else than a DNS message', async () => {
    const { origin } = await startHttps();
    const client = open(origin);
    const requestStatus = async (type: string | undefined) => {
      const body = queryFor('fast.example', 0);
      return (await client.ask({ path: '/dns-query', body, ...(type !== undefined && { type }) })).status;
    };
    for (const type of [undefined, 'application/dns-message', 'Application/DNS-Message; x=1'])
      expect(await requestStatus(type)).toBe(200);
    for (const type of ['text/plain', 'application/json', '']) expect(await requestStatus(type)).toBe(415);
  });

  it('is answered by GET and by POST, at once and later', async () => {
    const { origin, listener } = await startHttps();
    const client = open(origin);
    for (const name of ['fast.example', 'slow.example'])
      for (const wanted of [{ path: pathFor(name) }, { path: '/dns-query', body: queryFor(name, 0) }]) {
        const { status, headers, body } = await client.ask(wanted);
        expect(status).toBe(200);
        expect(headers).toMatchObject({
          'content-type': 'application/dns-message',
          'content-length': String(body.length),
          // As for every answer without records.
          'cache-control': 'max-age=5',
        });
        const expected = queryFor(name, 0);
        expected[2] = name.startsWith('fast') ? 0x81 : 0x85;
        expect(body).toEqual(expected);
      }
    expect(listener.count()).toMatchObject({ open: 1, queries: 4 });
  });

  it('is refused where the request holds none, and the connection stays', async () => {
    const { origin, listener, statuses } = await startHttps();
    const client = open(origin);
    const response = queryFor('fast', 1);
    response[2] = 0x80;
    const twoQuestions = queryFor('fast', 1);
    twoQuestions[5] = 2;
    const refused: readonly (readonly [Wanted, number])[] = [
      [{ path: '/' }, 404],
      [{ path: '/dns-query/' }, 404],
      [{ path: '/dns-query' }, 400],
      [{ path: '/dns-query?dns=' }, 400],
      [{ path: '/dns-query?dns=A' }, 400],
      [{ path: '/dns-query?dns=AAAA*' }, 400],
      [{ path: `${pathFor('fast')}=` }, 400],
      [{ path: `${pathFor('fast')}&dns=AAAA` }, 400],
      [{ path: pathFor('fast'), method: 'PUT' }, 400],
      [{ path: '/dns-query', body: Buffer.from('no query') }, 400],
      [{ path: '/dns-query', body: response }, 400],
      [{ path: '/dns-query', body: twoQuestions }, 400],
      [{ path: '/dns-query', body: Buffer.alloc(70_000) }, 400],
      [{ path: pathFor('drop') }, 500],
    ];
    for (const [wanted, status] of refused) expect(await client.ask(wanted)).toMatchObject({ status });
    expect(await client.ask({ path: `${pathFor('fast')}&other=1` })).toMatchObject({ status: 200 });
    expect(statuses).toEqual([...refused.map(([, status]) => status), 200]);
    await waitUntil('all octets to be free', () => listener.count().heldOctets === 0);
  });

  it('is answered after the listener began to leave, and the connection ends', async () => {
    const held = new HeldAnswers();
    const { origin, listener } = await startHttps({
      handleQuery: held.handleQuery,
    });
    const client = open(origin);
    const asked = client.ask({ path: pathFor('slow') });
    await waitUntil('the question', () => held.count === 1);
    const stopped = listener.stop(5000);
    held.release();
    expect(await asked).toMatchObject({ status: 200 });
    await stopped;
    await waitUntil('the end', client.isClosed);
    expect(listener.count()).toMatchObject({ open: 0, ended: { leaving: 1 } });
  });

  it('is the last one after so many on a connection', async () => {
    const { origin, listener } = await startHttps({ limits: { queries: 2 } });
    const client = open(origin);
    expect(await client.ask({ path: pathFor('fast') })).toMatchObject({ status: 200 });
    expect(await client.ask({ path: pathFor('fast') })).toMatchObject({ status: 200 });
    await waitUntil('the end', client.isClosed);
    await waitUntil('its place', () => listener.count().open === 0);
    expect(listener.count().ended.queries).toBe(1);
  });

  it('is followed by the end of the connection after the idle time', async () => {
    const clock = new ManualClock();
    const { origin, listener } = await startHttps({ clock, limits: { idleMilliseconds: 5000 } });
    const client = open(origin);
    await client.ask({ path: pathFor('fast') });
    clock.advance(4999);
    expect(await client.ask({ path: pathFor('fast') })).toMatchObject({ status: 200 });
    await waitUntil('octets to be free', () => listener.count().heldOctets === 0);
    clock.advance(5001);
    await waitUntil('the end', client.isClosed);
    await waitUntil('its place', () => listener.count().open === 0);
    expect(listener.count()).toMatchObject({ accepted: 1, ended: { idle: 1 } });
  });
});

describe('queries over HTTP/2', () => {
  it('are answered out of order, up to the limit of open ones', async () => {
    const held = new HeldAnswers();
    const { origin, listener } = await startHttps({
      limits: { owed: 5 },
      handleQuery: held.handleQuery,
    });
    const { ask, session } = openHttp2(origin);
    await new Promise((resolve) => session.once('remoteSettings', resolve));
    expect(session.remoteSettings.maxConcurrentStreams).toBe(5);
    const slow = Array.from({ length: 4 }, (_, id) => ask({ path: pathFor('slow', id) }));
    await waitUntil('four questions', () => held.count === 4);
    expect(await ask({ path: pathFor('fast') })).toMatchObject({ status: 200 });
    held.release();
    const ids = (await Promise.all(slow)).map(({ body }) => body.readUInt16BE(0));
    expect(ids).toEqual([0, 1, 2, 3]);
    expect(listener.count().queries).toBe(5);
  });

  it('that come together are answered in several turns where they take long', async () => {
    const clock = new ManualClock();
    const answers = new ScriptedAnswers();
    let turns = 0;
    let isTurn = false;
    const { origin, listener } = await startHttps({
      clock,
      answers: {
        enter: () => {
          if (!isTurn) setImmediate(() => (isTurn = false));
          turns += isTurn ? 0 : 1;
          isTurn = true;
        },
        leave: () => {},
        setTime: () => {},
        answer: (packet, start, length) => {
          clock.advance(1);
          return answers.answer(packet, start, length);
        },
      },
    });
    const { ask } = openHttp2(origin);
    const asked = Array.from({ length: 60 }, (_, id) =>
      ask({ path: '/dns-query', body: queryFor('fast', id) }),
    );
    const ids = (await Promise.all(asked)).map(({ body }) => body.readUInt16BE(0));
    expect(ids).toEqual(Array.from({ length: 60 }, (_, id) => id));
    expect(listener.count().queries).toBe(60);
    // A turn ends after 2 ms, and a round of turns after six.
    expect(turns).toBeGreaterThanOrEqual(5);
  });

  it('whose client is gone leave their place', async () => {
    const { origin, listener } = await startHttps({
      clock: new ManualClock(),
      handleQuery: () => new Promise(() => {}),
    });
    const { session, ask } = openHttp2(origin);
    await ask({ path: pathFor('fast') });
    session.request({ ':path': pathFor('slow') }).on('error', () => {});
    await waitUntil('the question', () => listener.count().queries === 2);
    session.destroy();
    await waitUntil('its place', () => listener.count().open === 0);
    expect(listener.count()).toMatchObject({ heldOctets: 0, ended: { client: 1 } });
  });

  it('that their client gives up before the answer leave their room to others', async () => {
    const held = new HeldAnswers();
    const { origin, listener } = await startHttps({
      limits: { owed: 3 },
      handleQuery: held.handleQuery,
    });
    const { ask, session } = openHttp2(origin);
    for (let id = 0; id < 5; id += 1) {
      const stream = session.request({ ':path': pathFor('slow', id) });
      stream.on('error', () => {});
      await waitUntil('the question', () => held.count === 1);
      stream.close();
      await ask({ path: pathFor('fast') });
      held.release();
    }
    expect(await ask({ path: pathFor('fast') })).toMatchObject({ status: 200 });
    await waitUntil('octets to be free', () => listener.count().heldOctets === 0);
  });

  it('whose bodies do not end hold octets that are counted, and the connection can be closed as idle', async () => {
    const clock = new ManualClock();
    const { origin, listener } = await startHttps({ clock, limits: { idleMilliseconds: 5000 } });
    const { session, isClosed } = openHttp2(origin);
    const stream = session.request({ ':path': '/dns-query', ':method': 'POST' });
    stream.on('error', () => {});
    stream.write(Buffer.alloc(1000));
    await waitUntil('the octets', () => listener.count().heldOctets === 1000);
    clock.advance(5001);
    // The stream never ends: the time for ending connections is over, too.
    clock.advance(2001);
    await waitUntil('the end', isClosed);
    await waitUntil('its place', () => listener.count().open === 0);
    expect(listener.count()).toMatchObject({ heldOctets: 0, ended: { idle: 1 } });
  });

  it('of a client that takes no answers are bounded by octets', async () => {
    const long = Buffer.alloc(60_000);
    const { origin, listener } = await startHttps({
      handleQuery: async () => long,
      limits: { octetsPerConnection: 300_000 },
    });
    const { session } = openHttp2(origin);
    for (let id = 0; id < 50; id += 1) {
      const stream = session.request({ ':path': pathFor('slow', id) });
      stream.on('error', () => {});
      stream.pause();
    }
    await waitUntil('the end', () => listener.count().ended.unread === 1);
    expect(listener.count().heldOctets).toBe(0);
  });
});

describe('queries over HTTP without TLS', () => {
  it('are answered by HTTP/1.1, for a proxy that ends TLS', async () => {
    const { listener } = await startHttps({ encryption: undefined });
    const client = openHttp1(`http://127.0.0.1:${listener.endpoints[0]?.port}`);
    expect(await client.ask({ path: pathFor('fast') })).toMatchObject({ status: 200 });
  });

  it('end with what is no HTTP', async () => {
    const { listener } = await startHttps({ encryption: undefined });
    const { TcpClient } = await import('./tcp-client.ts');
    const client = new TcpClient(listener.endpoints[0]?.port ?? 0, '127.0.0.1');
    client.send(queryFor('fast', 1));
    await waitUntil('the end', () => client.isEnded || client.isClosed);
    await waitUntil('its place', () => listener.count().open === 0);
  });
});
