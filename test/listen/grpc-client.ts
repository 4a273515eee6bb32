/**
 * Calls of DNS over gRPC, by Node's client of HTTP/2.
 */
import type { ClientHttp2Session, ClientHttp2Stream, OutgoingHttpHeaders } from 'node:http2';
import { decodeDnsPacket, QUERY_METHOD } from '@portolan/kernel/base/grpc/dns-packet.ts';
import { GrpcFrameReader } from '@portolan/kernel/base/grpc/grpc-frames.ts';
import { readGrpcStatus } from '@portolan/kernel/base/grpc/grpc-status.ts';

export interface GrpcReply {
  readonly httpStatus: number | undefined;
  /** Of gRPC. */
  readonly code: number | undefined;
  readonly details: string;
  readonly messages: readonly Buffer[];
}

/** Begins a call, which the caller ends. */
export function begin(session: ClientHttp2Session, headers: OutgoingHttpHeaders = {}): ClientHttp2Stream {
  const usual = {
    ':method': 'POST',
    ':path': QUERY_METHOD,
    'content-type': 'application/grpc',
    te: 'trailers',
  };
  const stream = session.request({ ...usual, ...headers }, { endStream: false });
  stream.on('error', () => {});
  return stream;
}

/** The reply, once the server has ended the call. */
export function receive(stream: ClientHttp2Stream): Promise<GrpcReply> {
  const frames = new GrpcFrameReader(2 ** 20);
  const messages: Buffer[] = [];
  let status = { code: undefined as number | undefined, details: '' };
  let httpStatus: number | undefined;
  stream.on('response', (headers) => {
    httpStatus = headers[':status'];
    status = readGrpcStatus(headers) ?? status;
  });
  stream.on('trailers', (trailers) => {
    status = readGrpcStatus(trailers) ?? status;
  });
  stream.on('data', (octets: Buffer) =>
    frames.push(octets, (packet) => messages.push(decodeDnsPacket(packet))),
  );
  return new Promise((resolve) => {
    const take = () => resolve({ httpStatus, ...status, messages });
    stream.on('end', take);
    // It was reset.
    stream.on('close', take);
  });
}

/** A whole call. */
export function call(
  session: ClientHttp2Session,
  body: Buffer,
  headers?: OutgoingHttpHeaders,
): Promise<GrpcReply> {
  const stream = begin(session, headers);
  const reply = receive(stream);
  stream.end(body);
  return reply;
}
