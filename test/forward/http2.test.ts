/**
 * Queries over HTTPS to a server that knows HTTP/2 alone, as Unbound, BIND, Knot Resolver and dnsdist do.
 */
import {
  createSecureServer,
  type Http2Session,
  type SecureServerOptions,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { decodeMessage, encodeMessage } from '@portolan/dns/message.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import type { RequestTransport } from '@portolan/kernel/forward/transport/request-transport.ts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readTlsFixture } from '../api-server/tls-fixture.ts';
import { ask, connect, readQueryOctets, TRUST } from './asked-over-http.ts';

/** RFC 9113 section 7. */
const REFUSED_STREAM = 7;

interface Request {
  readonly stream: ServerHttp2Stream;
  readonly session: Http2Session;
  /** Its place among those of the server, and of its connection, from 1. */
  readonly number: number;
  readonly ofConnection: number;
  /** Sends the query back as its response. */
  readonly answer: () => void;
}

interface RunningServer {
  readonly port: number;
  readonly methods: string[];
  connections: number;
  /** Connections beyond `maxConnections`, which are closed at once. */
  dropped: number;
}

async function serve(
  react: (request: Request) => void = ({ answer }) => answer(),
  options: SecureServerOptions = {},
  { address = '127.0.0.1', maxConnections = 100 } = {},
): Promise<RunningServer> {
  const server = createSecureServer({ ...readTlsFixture('server'), ...options });
  server.maxConnections = maxConnections;
  const sessions = new Map<Http2Session, number>();
  const running: RunningServer = { port: 0, methods: [], connections: 0, dropped: 0 };
  server.on('drop', () => {
    running.dropped += 1;
  });
  server.on('session', (session) => {
    running.connections += 1;
    sessions.set(session, 0);
    session.on('error', () => {});
  });
  server.on('stream', async (stream, { ':method': method = '', ':path': path = '' }) => {
    stream.on('error', () => {});
    const { session } = stream;
    if (session === undefined) return;
    running.methods.push(method);
    const { length: number } = running.methods;
    const ofConnection = (sessions.get(session) ?? 0) + 1;
    sessions.set(session, ofConnection);
    const octets = await readQueryOctets(stream, path);
    const answer = () => {
      const query = decodeMessage(octets);
      stream.respond({ ':status': 200, 'content-type': 'application/dns-message' });
      stream.end(encodeMessage({ ...query, header: { ...query.header, response: true } }));
    };
    react({ stream, session, number, ofConnection, answer });
  });
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  onTestFinished(() => {
    for (const session of sessions.keys()) session.destroy();
    server.close();
  });
  return Object.assign(running, { port: (server.address() as AddressInfo).port });
}

/** Asks for many names at once. @returns the names that were answered, or what failed */
async function askMany(transport: RequestTransport, round: number, count = 20) {
  const names = Array.from({ length: count }, (_, index) => `n${index}.r${round}.example.`);
  const replies = await Promise.all(names.map((name) => ask(transport, name)));
  const answered = replies.map((reply) =>
    typeof reply === 'string' ? reply : String(reply.questions[0]?.name),
  );
  return { names, answered };
}

it.each(['POST', 'GET'] as const)('asks by %s, many at once on one connection', async (method) => {
  const server = await serve();
  const transport = connect(server.port, { method });
  for (let round = 0; round < 2; round += 1) {
    const { names, answered } = await askMany(transport, round);
    expect(answered).toEqual(names);
  }
  expect(new Set(server.methods)).toEqual(new Set([method]));
  expect(server.connections).toBe(1);
});

const KINDS: Readonly<Record<string, (request: Request) => void>> = {
  'ends each connection after one reply': ({ session, answer, ofConnection }) => {
    if (ofConnection > 1) return;
    answer();
    session.close();
  },
  'ends connections by GOAWAY before a request': ({ session, stream, answer, ofConnection }) => {
    // It has not processed this one (RFC 9113 section 6.8).
    if (ofConnection === 3) session.goaway(0, (stream.id ?? 0) - 2);
    else answer();
  },
  'ends connections without a word': ({ session, answer, ofConnection }) => {
    if (ofConnection === 3) session.destroy();
    else answer();
  },
  'refuses every third request': ({ stream, answer, number }) => {
    if (number % 3 === 0) stream.close(REFUSED_STREAM);
    else answer();
  },
  'ends in the middle of every third reply': ({ stream, session, answer, number }) => {
    if (number % 3 !== 0) {
      answer();
      return;
    }
    stream.respond({ ':status': 200, 'content-length': 100 });
    stream.write(Buffer.alloc(20), () => session.destroy());
  },
};

describe('all questions are answered where a server', () => {
  it.each(Object.entries(KINDS))('%s', async (_, react) => {
    const transport = connect((await serve(react)).port);
    // One at a time: what a connection loses is asked again on the next one, once.
    for (let round = 0; round < 8; round += 1)
      expect(await ask(transport, `r${round}.example.`)).toMatchObject({ header: { response: true } });
  });

  it('takes one request at a time on a connection, with many connections', async () => {
    const server = await serve(({ answer }) => void setTimeout(answer, 5), {
      settings: { maxConcurrentStreams: 1 },
    });
    const transport = connect(server.port);
    for (let round = 0; round < 3; round += 1) {
      const { names, answered } = await askMany(transport, round, 12);
      expect(answered).toEqual(names);
    }
    expect(server.connections).toBeGreaterThan(1);
  });
});

it('waits for room on its connection where the server takes no other', async () => {
  const held: (() => void)[] = [];
  const hold = ({ answer, number }: Request) => {
    if (number === 2 && server.dropped === 0) held.push(answer);
    else answer();
  };
  const settings = { maxConcurrentStreams: 1 };
  const server: RunningServer = await serve(hold, { settings }, { maxConnections: 1 });
  const transport = connect(server.port);
  // The server's settings come with the first reply.
  await ask(transport);
  const asked = askMany(transport, 1, 3);
  await waitUntil('another connection', () => server.dropped > 0);
  for (const answer of held) answer();
  const { names, answered } = await asked;
  expect(answered).toEqual(names);
  expect(server.connections).toBe(1);
});

it('fails with another status than 200, another question, and a server that ends everything', async () => {
  const teapot = await serve(({ stream }) => {
    stream.respond({ ':status': 418 });
    stream.end();
  });
  expect(await ask(connect(teapot.port))).toBe('HTTP status 418');
  const liar = await serve(({ stream }) => {
    stream.respond({ ':status': 200 });
    stream.end(Buffer.from('000081800001000000000000076578616d706c650000010001', 'hex'));
  });
  expect(await ask(connect(liar.port))).toBe('malformed');
  const cutter = await serve(({ session }) => session.destroy());
  expect(await ask(connect(cutter.port))).toBe('connection closed');
  expect(cutter.methods.length).toBe(2);
  const flood = await serve(({ stream }) => {
    stream.respond({ ':status': 200 });
    stream.end(Buffer.alloc(70_000));
  });
  expect(await ask(connect(flood.port))).toBe('response larger than a DNS message');
});

it('closes a connection that is idle, and opens another one for the next query', async () => {
  const clock = new ManualClock();
  const closed: string[] = [];
  const server = await serve(({ session, answer }) => {
    session.once('close', () => closed.push('closed'));
    answer();
  });
  const transport = connect(server.port, { clock });
  await ask(transport);
  await waitUntil('the end of the request', () => closed.length > 0, { step: () => clock.advance(30_000) });
  expect(await ask(transport)).toMatchObject({ header: { response: true } });
  expect(server.connections).toBe(2);
});

it('asks a server by an address with a zone', async () => {
  const server = await serve(undefined, {}, { address: '::1' });
  const transport = connect(server.port, {
    place: { host: '::1%lo', port: server.port },
    tls: { serverName: 'localhost', trust: TRUST },
  });
  expect(await ask(transport)).toMatchObject({ header: { response: true } });
});
