/**
 * Queries over gRPC as requests, as CoreDNS takes them.
 */
import type { IncomingHttpHeaders } from 'node:http2';
import { HEADER_OCTETS } from '@portolan/dns/header.ts';
import { skipName } from '@portolan/dns/query-records.ts';
import { RCODE } from '@portolan/dns/types.ts';
import {
  decodeDnsPacket,
  encodeDnsPacket,
  MAX_PACKET_OCTETS,
  QUERY_METHOD,
} from '../../base/grpc/dns-packet.ts';
import { FrameError, GrpcFrameReader } from '../../base/grpc/grpc-frames.ts';
import { CODE, faultOfResponse, type GrpcStatus, readGrpcStatus } from '../../base/grpc/grpc-status.ts';
import { ProtobufError } from '../../base/protobuf-message.ts';
import type { HttpRequest, ResponseReader } from './http-requests.ts';

const HEADERS = { 'content-type': 'application/grpc', te: 'trailers' };

export function makeGrpcRequest(host: string, octets: Uint8Array): HttpRequest {
  return {
    method: 'POST',
    path: QUERY_METHOD,
    host,
    headers: HEADERS,
    body: encodeDnsPacket(octets),
    createReader: () => new CallReader(octets),
  };
}

/** Octets of a type and a class. */
const FIXED_OCTETS = 4;

/** The reply is the only message of a call with the status OK. */
class CallReader implements ResponseReader {
  readonly #query: Uint8Array;
  readonly #frames = new GrpcFrameReader(MAX_PACKET_OCTETS);
  #packet: Buffer | undefined;
  /** Of a response without messages. */
  #status: GrpcStatus | undefined;
  #reply: Uint8Array = new Uint8Array();

  constructor(query: Uint8Array) {
    this.#query = query;
  }

  begin(status: number, headers: IncomingHttpHeaders): string | undefined {
    this.#status = readGrpcStatus(headers);
    const fault = this.#status === undefined ? faultOfResponse(status, headers['content-type']) : undefined;
    return fault && describeStatus(fault);
  }

  add(octets: Buffer): string | undefined {
    let isSecond = false;
    try {
      this.#frames.push(octets, (packet) => {
        isSecond = this.#packet !== undefined;
        this.#packet = packet;
      });
    } catch (error) {
      if (error instanceof FrameError) return error.message;
      throw error;
    }
    return isSecond ? 'more than one message' : undefined;
  }

  end(trailers: IncomingHttpHeaders = {}): string | undefined {
    const status = readGrpcStatus(trailers) ?? this.#status;
    if (status === undefined) return 'an answer without a status';
    if (status.code === CODE.NOT_FOUND) this.#reply = denyQuery(this.#query);
    else if (status.code !== CODE.OK) return describeStatus(status);
    else if (this.#packet === undefined || this.#frames.isInside) return 'an answer without a whole message';
    else return this.#decode(this.#packet);
    return undefined;
  }

  #decode(packet: Buffer): string | undefined {
    try {
      this.#reply = decodeDnsPacket(packet);
    } catch (error) {
      if (error instanceof ProtobufError) return error.message;
      throw error;
    }
    return undefined;
  }

  take(): Uint8Array {
    return this.#reply;
  }
}

const MAX_DETAILS = 200;

/** The server's words are for the log. */
function describeStatus({ code, details }: GrpcStatus): string {
  const shown = details.slice(0, MAX_DETAILS).replace(/[^ -~]/g, '?');
  return shown === '' ? `gRPC status ${code}` : `gRPC status ${code}: ${shown}`;
}

/** NXDOMAIN for a query: CoreDNS reads the status NOT_FOUND so. */
function denyQuery(query: Uint8Array): Uint8Array {
  const end = skipName(query, HEADER_OCTETS, query.length) + FIXED_OCTETS;
  const reply = query.slice(0, end);
  reply[2] = (reply[2] ?? 0) | 0x80;
  reply[3] = RCODE.NXDOMAIN;
  // The question alone.
  reply.fill(0, 6, HEADER_OCTETS);
  return reply;
}
