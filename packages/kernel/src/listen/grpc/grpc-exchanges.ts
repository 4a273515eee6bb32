/**
 * One client's connection as a row of gRPC calls, each a stream of HTTP/2 (PROTOCOL-HTTP2 of gRPC).
 */
import type { ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { GrpcStatus } from '../../base/grpc/grpc-status.ts';
import { serveHttp2Streams } from '../exchanges/http2-session.ts';
import { type ConnectionExchanges, type ServedExchange, watchClose } from '../exchanges/served-exchange.ts';

/** How a call begins. */
export interface CallHead {
  readonly method: string;
  /** Service and method: `/coredns.dns.DnsService/Query`. */
  readonly path: string;
  readonly contentType: string | undefined;
  /** How messages may be compressed; undefined: not at all. */
  readonly encoding: string | undefined;
}

/** A call, and the way to answer it. */
export interface GrpcExchange extends ServedExchange {
  readonly head: CallHead;
  /** Frames of messages. */
  readonly body: Readable;
  /** Ends the call with a message. @param frame with the head of its frame */
  succeed(frame: Uint8Array): void;
  /** Ends the call without a message. @param httpStatus 200 for requests of gRPC. @param status its details are ASCII without `%` */
  fail(status: GrpcStatus, httpStatus: number): void;
}

const CONTENT_TYPE = 'application/grpc';

/** @param maxOpen calls of a connection in progress at the same time */
export function serveGrpc(
  socket: Socket,
  maxOpen: number,
  onExchange: (exchange: GrpcExchange) => void,
): ConnectionExchanges {
  return serveHttp2Streams(socket, maxOpen, (stream, headers) =>
    onExchange({
      head: {
        method: headers[':method'] ?? '',
        path: headers[':path'] ?? '',
        contentType: headers['content-type'],
        encoding: [headers['grpc-encoding']].flat()[0],
      },
      body: stream,
      succeed: (frame) => succeed(stream, frame),
      fail: (status, httpStatus) => fail(stream, status, httpStatus),
      onClose: watchClose(stream),
    }),
  );
}

function succeed(stream: ServerHttp2Stream, frame: Uint8Array): void {
  if (stream.destroyed || stream.closed) return;
  stream.respond({ ':status': 200, 'content-type': CONTENT_TYPE }, { waitForTrailers: true });
  stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  stream.end(frame);
}

function fail(stream: ServerHttp2Stream, { code, details }: GrpcStatus, httpStatus: number): void {
  if (stream.destroyed || stream.closed) return;
  const status = { 'grpc-status': String(code), 'grpc-message': details };
  stream.respond({ ':status': httpStatus, 'content-type': CONTENT_TYPE, ...status }, { endStream: true });
}
