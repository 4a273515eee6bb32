/**
 * Queries over gRPC: with TLS and without, to servers that end connections, and to servers that send anything.
 */
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { encodeDnsPacket } from '@portolan/kernel/base/grpc/dns-packet.ts';
import { encodeGrpcFrame } from '@portolan/kernel/base/grpc/grpc-frames.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { makeGrpcRequest } from '@portolan/kernel/forward/transport/grpc-request.ts';
import {
  GRPC_PROTOCOLS,
  type RequestTransport,
  type RequestTransportOptions,
} from '@portolan/kernel/forward/transport/request-transport.ts';
import {
  type GrpcDouble,
  type GrpcDoubleOptions,
  type ReceivedCall,
  startGrpcDouble,
} from '@portolan/plugins/grpc/testing/grpc-double.ts';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { readTlsFixture } from '../api-server/tls-fixture.ts';
import { ask, connect, TRUST } from './asked-over-http.ts';

async function serve(react: (call: ReceivedCall) => void, options?: GrpcDoubleOptions): Promise<GrpcDouble> {
  const double = await startGrpcDouble(react, options);
  onTestFinished(() => double.stop());
  return double;
}

const connectByGrpc = (port: number, options: Partial<RequestTransportOptions> = {}): RequestTransport =>
  connect(port, { tls: undefined, protocols: GRPC_PROTOCOLS, makeRequest: makeGrpcRequest, ...options });

function repeat({ query, answer }: ReceivedCall): void {
  const reply = Buffer.from(query);
  reply[2] = (reply[2] ?? 0) | 0x80;
  answer(reply);
}

const REPLY = { header: { response: true, id: 0 }, questions: [{ name: 'www.example.' }] };

it('asks without TLS, many queries on one connection', async () => {
  const server = await serve(repeat);
  const transport = connectByGrpc(server.port);
  expect(await ask(transport)).toMatchObject(REPLY);
  const replies = await Promise.all(Array.from({ length: 50 }, () => ask(transport)));
  for (const reply of replies) expect(reply).toMatchObject(REPLY);
  expect([server.calls, server.connections]).toEqual([51, 1]);
});

it('asks with TLS, and only a server whose certificate is trusted', async () => {
  const server = await serve(repeat, { tls: readTlsFixture('server') });
  const tls = { serverName: 'localhost', trust: TRUST };
  expect(await ask(connectByGrpc(server.port, { tls }))).toMatchObject(REPLY);
  expect(
    await ask(
      connectByGrpc(server.port, { tls: { ...tls, trust: { certificates: { authorities: undefined } } } }),
    ),
  ).toMatch(/^[A-Z_]+$/);
  expect(await ask(connectByGrpc(server.port, { tls: { ...tls, serverName: 'other.example' } }))).toContain(
    'certificate is valid for',
  );
});

it('fails at once where nobody listens, or what listens is something else', async () => {
  const gone = await startGrpcDouble(() => {});
  await gone.stop();
  expect(await ask(connectByGrpc(gone.port))).toBe('ECONNREFUSED');
  expect(await ask(connectByGrpc(0, { place: { path: '/no/such/socket' } }))).toBe('ENOENT');
  const encrypted = await serve(repeat, { tls: readTlsFixture('server') });
  expect(await ask(connectByGrpc(encrypted.port))).toBeTypeOf('string');
});

it('gives up a connection that is not open after 5 s', async () => {
  const clock = new ManualClock();
  const sockets: Socket[] = [];
  const silent = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    socket.resume();
  });
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void silent.close());
  const { port } = silent.address() as AddressInfo;
  const tls = { serverName: 'localhost', trust: TRUST };
  const asked = ask(connectByGrpc(port, { tls, clock }));
  await waitUntil('the connection', () => sockets.length === 1);
  clock.advance(5001);
  expect(await asked).toBe('ETIMEDOUT');
  await waitUntil('its end', () => sockets[0]?.destroyed === true);
});

it('sends a query again where the server refuses its stream or ends the connection', async () => {
  const server = await serve((call) => {
    if (call.number === 2) call.stream.close(7);
    else if (call.number === 4) call.session?.destroy();
    else repeat(call);
  });
  const transport = connectByGrpc(server.port);
  for (let count = 0; count < 3; count += 1) expect(await ask(transport)).toMatchObject(REPLY);
  expect([server.calls, server.connections]).toEqual([5, 2]);
});

it('gives each query one end, whatever the server sends', async () => {
  let react: (call: ReceivedCall) => void = repeat;
  const server = await serve((call) => react(call));
  const transport = connectByGrpc(server.port);
  const octets = fc.uint8Array({ maxLength: 40 });
  const body = fc.oneof(octets, octets.map(encodeGrpcFrame), octets.map(encodeDnsPacket));
  const ends = fc.constantFrom('send', 'reset', 'refuse', 'headers', 'leave');
  await fc.assert(
    fc.asyncProperty(body, fc.nat({ max: 20 }), ends, async (sent, status, end) => {
      react = ({ stream, session, send }) => {
        if (end === 'send') send(sent, status, '%0a%');
        else if (end === 'reset') stream.close(status);
        else if (end === 'refuse') stream.respond({ ':status': 200 + status }, { endStream: true });
        else if (end === 'headers')
          stream.respond({ ':status': 200, 'grpc-status': String(status) }, { endStream: true });
        else session?.destroy();
      };
      const ended = await ask(transport);
      if (typeof ended !== 'string') expect(ended.header.response).toBe(true);
    }),
  );
  react = repeat;
  expect(await ask(transport)).toMatchObject(REPLY);
});
