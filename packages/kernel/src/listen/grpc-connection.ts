/**
 * One client's connection of DNS over gRPC, as CoreDNS has it: each call of `Query` is a query.
 */
import { HEADER_OCTETS } from '@portolan/dns/header.ts';
import {
  decodeDnsPacket,
  encodeDnsPacket,
  MAX_PACKET_OCTETS,
  QUERY_METHOD,
} from '../base/grpc/dns-packet.ts';
import { FrameError, GrpcFrameReader } from '../base/grpc/grpc-frames.ts';
import { CODE, type GrpcStatus } from '../base/grpc/grpc-status.ts';
import { ProtobufError } from '../base/protobuf-message.ts';
import type { ClientConnectionOptions } from './client-connection.ts';
import { ExchangeConnection } from './exchange-connection.ts';
import { isQuery } from './exchanges/query-header.ts';
import type { ConnectionExchanges } from './exchanges/served-exchange.ts';
import { type CallHead, type GrpcExchange, serveGrpc } from './grpc/grpc-exchanges.ts';

const OK = 200;
const METHOD_NOT_ALLOWED = 405;
const UNSUPPORTED_MEDIA_TYPE = 415;

/** Why a call gets no answer. `httpStatus`: of a request that is no call. Default: 200. */
type CallFault = GrpcStatus & { readonly httpStatus?: number };

const NO_POST: CallFault = {
  code: CODE.INTERNAL,
  details: 'the method of a request must be POST',
  httpStatus: METHOD_NOT_ALLOWED,
};
const NO_CALL: CallFault = {
  code: CODE.INVALID,
  details: 'invalid gRPC request content-type',
  httpStatus: UNSUPPORTED_MEDIA_TYPE,
};
const NO_METHOD: CallFault = { code: CODE.UNIMPLEMENTED, details: `the only method is ${QUERY_METHOD}` };
const NO_DECOMPRESSOR: CallFault = {
  code: CODE.UNIMPLEMENTED,
  details: 'the only grpc-encoding is identity',
};
const TOO_MANY: CallFault = { code: CODE.UNAVAILABLE, details: 'too many requests' };
const NO_MESSAGE: CallFault = { code: CODE.UNKNOWN, details: 'EOF' };
/** In CoreDNS's words. */
const TOO_SHORT: CallFault = { code: CODE.UNKNOWN, details: 'dns: buffer size too small' };
const NO_QUERY: CallFault = { code: CODE.UNKNOWN, details: 'dns request rejected' };
const NO_RESPONSE: CallFault = { code: CODE.INTERNAL, details: 'No response' };

export class GrpcConnection extends ExchangeConnection<GrpcExchange> {
  protected override readonly exchanges: ConnectionExchanges;

  constructor(options: ClientConnectionOptions) {
    super(options);
    this.exchanges = serveGrpc(options.socket, this.limits.owed, (exchange) => this.#serve(exchange));
  }

  #serve(exchange: GrpcExchange): void {
    const fault = findFault(exchange.head) ?? (this.isFull ? TOO_MANY : undefined);
    if (fault === undefined) this.#read(exchange);
    else this.#refuse(exchange, fault);
  }

  /** Reads the first message; further ones are ignored, as CoreDNS ignores them. */
  #read(exchange: GrpcExchange): void {
    const frames = new GrpcFrameReader(MAX_PACKET_OCTETS);
    let octets = 0;
    let isOver = false;
    const take = (packet: Buffer): void => {
      if (isOver) return;
      isOver = true;
      this.#take(exchange, packet);
    };
    exchange.onClose(() => {
      isOver = true;
      this.hold(-octets);
    });
    exchange.body.on('data', (piece: Buffer) => {
      if (isOver) return;
      octets += piece.length;
      this.hold(piece.length);
      try {
        frames.push(piece, take);
      } catch (error) {
        // What follows a whole message does not matter.
        if (isOver) return;
        isOver = true;
        this.#refuse(exchange, toCallFault(error));
      }
    });
    exchange.body.on('end', () => {
      if (isOver) return;
      isOver = true;
      this.#refuse(exchange, NO_MESSAGE);
    });
  }

  #take(exchange: GrpcExchange, packet: Buffer): void {
    let message: Buffer;
    try {
      message = decodeDnsPacket(packet);
    } catch (error) {
      this.#refuse(exchange, toCallFault(error));
      return;
    }
    if (message.length < HEADER_OCTETS) this.#refuse(exchange, TOO_SHORT);
    else if (isQuery(message)) this.answerInTurn(exchange, message);
    else this.#refuse(exchange, NO_QUERY);
  }

  protected override respond(exchange: GrpcExchange, response: Uint8Array | undefined): void {
    if (response === undefined) {
      this.#refuse(exchange, NO_RESPONSE);
      return;
    }
    const frame = encodeDnsPacket(response);
    this.noteSending(exchange, frame.length);
    exchange.succeed(frame);
  }

  /** A call that asks nothing leaves the connection open. */
  #refuse(exchange: GrpcExchange, fault: CallFault): void {
    this.noteSending(exchange, 0);
    exchange.fail(fault, fault.httpStatus ?? OK);
  }
}

function findFault({
  method,
  path,
  contentType = '',
  encoding = 'identity',
}: CallHead): CallFault | undefined {
  if (method !== 'POST') return NO_POST;
  if (!/^application\/grpc(?:[+;]|$)/i.test(contentType)) return NO_CALL;
  if (path !== QUERY_METHOD) return NO_METHOD;
  return encoding === 'identity' ? undefined : NO_DECOMPRESSOR;
}

/** @throws what is no fault of the client */
function toCallFault(error: unknown): CallFault {
  if (error instanceof FrameError)
    return { code: error.isTooLarge ? CODE.EXHAUSTED : CODE.INTERNAL, details: error.message };
  if (error instanceof ProtobufError) return { code: CODE.INTERNAL, details: error.message };
  throw error;
}
