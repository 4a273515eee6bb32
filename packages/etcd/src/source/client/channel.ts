/**
 * gRPC calls to one member of etcd over HTTP/2, with messages as octets. There are no retries: the client that uses a channel goes to
 * the next member.
 */
import {
  type ClientHttp2Stream,
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import { encodeGrpcFrame, FrameError, GrpcFrameReader } from '@portolan/kernel/base/grpc/grpc-frames.ts';
import {
  CODE,
  faultOfResponse,
  type GrpcStatus,
  readGrpcStatus,
} from '@portolan/kernel/base/grpc/grpc-status.ts';
import type { EtcdEndpoint } from './endpoints.ts';
import { EtcdError } from './etcd-error.ts';
import { Http2Session } from './http2-session.ts';
import { readTlsFiles, type TlsContents, type TlsFiles } from './settings.ts';
import { toStatusError } from './status-error.ts';

/** Options of a call. */
export interface CallOptions {
  /** The token of an authenticated user. */
  readonly token?: string | undefined;
  /** Whether a member without a leader ends the call, instead of waiting for one. */
  readonly requiresLeader?: boolean;
}

export interface Stream {
  send(message: Buffer): void;
  cancel(): void;
}

export interface StreamHandlers {
  readonly message: (message: Buffer) => void;
  /** Called once, when the stream has ended for another reason than `cancel`; never before `stream` has returned. */
  readonly ended: (error: EtcdError) => void;
}

/** Octets; pages of a range and fragments of a watch are smaller. */
const MAX_MESSAGE = 64 * 1024 * 1024;

export class Channel {
  readonly endpoint: EtcdEndpoint;
  readonly #tls: TlsContents | undefined;
  readonly #clock: Clock;
  #session: Http2Session | undefined;

  private constructor(endpoint: EtcdEndpoint, tls: TlsContents | undefined, clock: Clock) {
    this.endpoint = endpoint;
    this.#tls = tls;
    this.#clock = clock;
  }

  /**
   * Connects with the first call.
   *
   * @throws EtcdError if a TLS file cannot be read
   */
  static async open(endpoint: EtcdEndpoint, tls: TlsFiles, clock: Clock): Promise<Channel> {
    try {
      return new Channel(endpoint, endpoint.secure ? await readTlsFiles(tls) : undefined, clock);
    } catch (error) {
      throw new EtcdError('unavailable', `${endpoint.text}: TLS cannot be set up: ${describeError(error)}`);
    }
  }

  /** @param timeout milliseconds. @throws EtcdError */
  call(method: string, request: Buffer, timeout: number, options: CallOptions = {}): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      let reply: Buffer | undefined;
      const take = (message: Buffer) => {
        reply ??= message;
      };
      const call = this.#start(method, options, take, (status) => {
        timer.cancel();
        if (status.code === CODE.OK) resolve(reply ?? Buffer.alloc(0));
        else reject(toStatusError(this.endpoint.text, status));
      });
      const timer = this.#clock.after(timeout, () => {
        call.cancel();
        reject(new EtcdError('unavailable', `${this.endpoint.text}: no answer within ${timeout} ms`));
      });
      call.send(request, 'last');
    });
  }

  stream(method: string, { message, ended }: StreamHandlers, options: CallOptions = {}): Stream {
    const call = this.#start(method, options, message, (status) => {
      const isOk = status.code === CODE.OK;
      ended(
        isOk
          ? new EtcdError('unavailable', `${this.endpoint.text}: the stream has ended`)
          : toStatusError(this.endpoint.text, status),
      );
    });
    return { send: (octets) => call.send(octets), cancel: () => call.cancel() };
  }

  /** Ends all calls. */
  close(): void {
    this.#session?.close();
  }

  #start(
    method: string,
    options: CallOptions,
    message: (message: Buffer) => void,
    ended: (status: GrpcStatus) => void,
  ): GrpcCall {
    const session = this.#usableSession();
    return new GrpcCall(session, createHeaders(method, options), { message, ended });
  }

  #usableSession(): Http2Session {
    if (this.#session?.isUsable !== true)
      this.#session = new Http2Session(this.endpoint, this.#tls, this.#clock);
    return this.#session;
  }
}

function createHeaders(method: string, { token, requiresLeader }: CallOptions): OutgoingHttpHeaders {
  return {
    ':method': 'POST',
    ':path': method,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...(token !== undefined && { token }),
    ...(requiresLeader === true && { hasleader: 'true' }),
  };
}

interface CallHandlers {
  readonly message: (message: Buffer) => void;
  /** Called once, unless the call was canceled before. */
  readonly ended: (status: GrpcStatus) => void;
}

class GrpcCall {
  readonly #session: Http2Session;
  readonly #stream: ClientHttp2Stream;
  readonly #handlers: CallHandlers;
  readonly #frames = new GrpcFrameReader(MAX_MESSAGE);
  #isOpen = true;
  #error: Error | undefined;

  constructor(session: Http2Session, headers: OutgoingHttpHeaders, handlers: CallHandlers) {
    this.#session = session;
    this.#handlers = handlers;
    this.#stream = session.open(headers);
    this.#stream.on('response', (received) => this.#onHeaders(received));
    this.#stream.on('trailers', (received) => this.#onTrailers(received));
    this.#stream.on('data', (octets: Buffer) => this.#onData(octets));
    this.#stream.on('error', (error) => {
      this.#error = error;
    });
    this.#stream.on('close', () => this.#onClose());
  }

  /** @param place `last`: no message follows */
  send(message: Buffer, place: 'last' | 'more' = 'more'): void {
    if (!this.#stream.writable) return;
    if (place === 'last') this.#stream.end(encodeGrpcFrame(message));
    else this.#stream.write(encodeGrpcFrame(message));
  }

  cancel(): void {
    this.#isOpen = false;
    this.#stream.close(constants.NGHTTP2_CANCEL);
  }

  #onHeaders(headers: IncomingHttpHeaders): void {
    // A call without messages has its status here.
    const status =
      readGrpcStatus(headers) ?? faultOfResponse(Number(headers[':status']), headers['content-type']);
    if (status !== undefined) this.#end(status);
  }

  #onTrailers(headers: IncomingHttpHeaders): void {
    const status = readGrpcStatus(headers) ?? { code: CODE.UNKNOWN, details: 'an answer without a status' };
    const isCut = status.code === CODE.OK && this.#frames.isInside;
    this.#end(isCut ? { code: CODE.INTERNAL, details: 'an answer that ends inside a message' } : status);
  }

  #onData(octets: Buffer): void {
    try {
      this.#frames.push(octets, (message) => {
        if (this.#isOpen) this.#handlers.message(message);
      });
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.#end({ code: error.isTooLarge ? CODE.EXHAUSTED : CODE.INTERNAL, details: error.message });
    }
  }

  /** The stream has ended without a status: the connection, or the member, is gone. */
  #onClose(): void {
    const reason = this.#session.fault ?? this.#error;
    const details = reason?.message ?? `the stream was closed (HTTP/2 code ${this.#stream.rstCode ?? 0})`;
    this.#end({ code: CODE.UNAVAILABLE, details });
  }

  #end(status: GrpcStatus): void {
    if (!this.#isOpen) return;
    this.cancel();
    this.#handlers.ended(status);
  }
}
