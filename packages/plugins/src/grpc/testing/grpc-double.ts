/**
 * A server of DNS over gRPC for tests, by Node's server of HTTP/2.
 */
import { once } from 'node:events';
import {
  createSecureServer,
  createServer,
  type Http2Session,
  type SecureServerOptions,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import {
  decodeDnsPacket,
  encodeDnsPacket,
  MAX_PACKET_OCTETS,
} from '@portolan/kernel/base/grpc/dns-packet.ts';
import { GrpcFrameReader } from '@portolan/kernel/base/grpc/grpc-frames.ts';

/** A call that the double has received. */
export interface ReceivedCall {
  readonly stream: ServerHttp2Stream;
  readonly session: Http2Session | undefined;
  /** The DNS message. */
  readonly query: Buffer;
  readonly path: string;
  /** Its place among the calls, from 1. */
  readonly number: number;
  /** Ends the call with these octets and this status. */
  send(octets: Uint8Array, status?: number, details?: string): void;
  /** Ends the call with a message. */
  answer(message: Uint8Array): void;
}

export interface GrpcDouble {
  readonly port: number;
  /** Calls and connections so far. */
  readonly calls: number;
  readonly connections: number;
  stop(): Promise<void>;
}

export interface GrpcDoubleOptions {
  /** Undefined: connections are not encrypted. */
  readonly tls?: SecureServerOptions;
  /** The path of a Unix socket in place of a port on 127.0.0.1. */
  readonly path?: string;
}

export async function startGrpcDouble(
  react: (call: ReceivedCall) => void,
  { tls, path }: GrpcDoubleOptions = {},
): Promise<GrpcDouble> {
  const server = tls === undefined ? createServer() : createSecureServer(tls);
  const sessions = new Set<Http2Session>();
  let calls = 0;
  let connections = 0;
  server.on('session', (session: Http2Session) => {
    connections += 1;
    sessions.add(session);
    session.on('error', () => {});
    session.on('close', () => sessions.delete(session));
  });
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    stream.on('error', () => {});
    const frames = new GrpcFrameReader(MAX_PACKET_OCTETS);
    stream.on('data', (octets: Buffer) =>
      frames.push(octets, (packet) => {
        calls += 1;
        const send: ReceivedCall['send'] = (sent, status = 0, details = '') => {
          if (stream.destroyed) return;
          stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
          stream.on('wantTrailers', () =>
            stream.sendTrailers({ 'grpc-status': String(status), 'grpc-message': details }),
          );
          stream.end(sent);
        };
        react({
          stream,
          session: stream.session,
          query: decodeDnsPacket(packet),
          path: headers[':path'] ?? '',
          number: calls,
          send,
          answer: (message) => send(encodeDnsPacket(message)),
        });
      }),
    );
  });
  server.listen(path === undefined ? { port: 0, host: '127.0.0.1' } : { path });
  await once(server, 'listening');
  // A path has no port.
  const { port } = path === undefined ? (server.address() as AddressInfo) : { port: 0 };
  return {
    port,
    get calls() {
      return calls;
    },
    get connections() {
      return connections;
    },
    async stop() {
      for (const session of sessions) session.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
