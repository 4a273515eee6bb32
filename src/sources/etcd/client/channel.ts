/**
 * gRPC calls to one member of etcd, with messages as octets.
 *
 * The only file that uses `@grpc/grpc-js`. The first channel loads it, so it is not needed without etcd.
 */
import { isIP } from 'node:net';
import type { PeerCertificate } from 'node:tls';
import type * as Grpc from '@grpc/grpc-js';
import type { Clock } from '../../../base/clock.ts';
import type { Endpoint } from './endpoints.ts';
import { EtcdError, type EtcdFailure } from './etcd-error.ts';
import { readTlsFiles, type TlsFiles } from './settings.ts';

type Library = typeof Grpc;

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
  /** Called once, when the stream has ended for another reason than `cancel`. */
  readonly ended: (error: EtcdError) => void;
}

/** Octets; pages of a range and fragments of a watch are smaller. */
const MAX_MESSAGE = 64 * 1024 * 1024;
/** Milliseconds. Members refuse clients that send keepalives more often than every 5 s. */
const KEEPALIVE = 10_000;
const KEEPALIVE_TIMEOUT = 5_000;

const OPTIONS: Grpc.ChannelOptions = {
  'grpc.max_receive_message_length': MAX_MESSAGE,
  'grpc.max_send_message_length': -1,
  'grpc.keepalive_time_ms': KEEPALIVE,
  'grpc.keepalive_timeout_ms': KEEPALIVE_TIMEOUT,
  'grpc.enable_retries': 0,
  'grpc.enable_http_proxy': 0,
  // Do not query TXT records.
  'grpc.service_config_disable_resolution': 1,
  // A new channel does not inherit the back-off of an earlier one.
  'grpc.use_local_subchannel_pool': 1,
};

/** An address must not be sent as a server name (RFC 6066 section 3), but the library sends it without this option. */
const WITHOUT_NAME: Grpc.ChannelOptions = { 'grpc.ssl_target_name_override': 'etcd.invalid' };

export class Channel {
  readonly endpoint: Endpoint;
  readonly #library: Library;
  readonly #client: Grpc.Client;
  readonly #clock: Clock;

  private constructor(library: Library, client: Grpc.Client, endpoint: Endpoint, clock: Clock) {
    this.#library = library;
    this.#client = client;
    this.endpoint = endpoint;
    this.#clock = clock;
  }

  /**
   * Connects with the first call.
   *
   * @throws EtcdError if a TLS file cannot be read, or `@grpc/grpc-js` is not installed
   */
  static async open(endpoint: Endpoint, tls: TlsFiles, clock: Clock): Promise<Channel> {
    const library = await loadLibrary();
    const credentials = await makeCredentials(library, endpoint, tls);
    const options = isIP(endpoint.host) === 0 ? OPTIONS : { ...OPTIONS, ...WITHOUT_NAME };
    return new Channel(
      library,
      new library.Client(targetOf(endpoint), credentials, options),
      endpoint,
      clock,
    );
  }

  /** @param timeout milliseconds. @throws EtcdError */
  call(method: string, request: Buffer, timeout: number, options: CallOptions = {}): Promise<Buffer> {
    const { promise, resolve, reject } = withResolvers<Buffer>();
    const call = this.#client.makeUnaryRequest<Buffer, Buffer>(
      method,
      (message) => message,
      (octets) => octets,
      request,
      this.#metadata(options),
      (error, reply) => {
        timer.cancel();
        if (error !== null) reject(describeStatus(this.endpoint, error));
        else resolve(reply ?? Buffer.alloc(0));
      },
    );
    const timer = this.#clock.after(timeout, () => {
      reject(new EtcdError('unavailable', `${this.endpoint.text}: no answer within ${timeout} ms`));
      call.cancel();
    });
    return promise;
  }

  stream(method: string, { message, ended }: StreamHandlers, options: CallOptions = {}): Stream {
    const call = this.#client.makeBidiStreamRequest<Buffer, Buffer>(
      method,
      (octets) => octets,
      (octets) => octets,
      this.#metadata(options),
    );
    let isOpen = true;
    const end = (error: EtcdError) => {
      if (!isOpen) return;
      isOpen = false;
      call.cancel();
      ended(error);
    };
    call.on('data', (octets: Buffer) => {
      if (isOpen) message(octets);
    });
    call.on('error', (error: Grpc.ServiceError) => end(describeStatus(this.endpoint, error)));
    call.on('end', () => end(new EtcdError('unavailable', `${this.endpoint.text}: the stream has ended`)));
    return {
      send: (octets) => void call.write(octets),
      cancel: () => {
        isOpen = false;
        call.cancel();
      },
    };
  }

  close(): void {
    this.#client.close();
  }

  #metadata({ token, requiresLeader }: CallOptions): Grpc.Metadata {
    const metadata = new this.#library.Metadata();
    if (token !== undefined) metadata.set('token', token);
    if (requiresLeader === true) metadata.set('hasleader', 'true');
    return metadata;
  }
}

async function loadLibrary(): Promise<Library> {
  try {
    return await import('@grpc/grpc-js');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const remedy = 'install it with `npm install @grpc/grpc-js`';
    throw new EtcdError('refused', `etcd needs the package @grpc/grpc-js: ${remedy} (${reason})`);
  }
}

async function makeCredentials(
  { credentials }: Library,
  { secure, host, text }: Endpoint,
  tls: TlsFiles,
): Promise<Grpc.ChannelCredentials> {
  if (!secure) return credentials.createInsecure();
  try {
    const { authority, key, certificate } = await readTlsFiles(tls);
    const { checkServerIdentity } = await import('node:tls');
    const check = {
      checkServerIdentity: (_: string, peer: PeerCertificate) => checkServerIdentity(host, peer),
    };
    return credentials.createSsl(authority, key, certificate, check);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new EtcdError('unavailable', `${text}: TLS cannot be set up: ${reason}`);
  }
}

function targetOf({ host, port }: Endpoint): string {
  const version = isIP(host);
  if (version === 4) return `ipv4:${host}:${port}`;
  return version === 6 ? `ipv6:[${host}]:${port}` : `dns:///${host}:${port}`;
}

/** gRPC status codes. */
const CODE = { INVALID: 3, DENIED: 7, EXHAUSTED: 8, OUT_OF_RANGE: 11 } as const;
const UNAUTHENTICATED = 16;
/** Cancelled, unknown, deadline, internal, unavailable, data loss: another member may answer. */
const UNAVAILABLE_CODES: ReadonlySet<number> = new Set([1, 2, 4, 13, 14, 15]);

function describeStatus({ text }: Endpoint, { code, details, message }: Grpc.ServiceError): EtcdError {
  return new EtcdError(failureOf(code, details), `${text}: ${details === '' ? message : details}`);
}

function failureOf(code: number, details: string): EtcdFailure {
  if (code === UNAUTHENTICATED) return 'unauthenticated';
  if (code === CODE.DENIED) return 'denied';
  if (code === CODE.OUT_OF_RANGE) return 'compacted';
  if (code === CODE.EXHAUSTED && /larger than max/i.test(details)) return 'too-large';
  const isOfUser = /user name|password|auth(entication)? (store|failed|token)/i.test(details);
  if (code === CODE.INVALID && isOfUser) return 'unauthenticated';
  return UNAVAILABLE_CODES.has(code) ? 'unavailable' : 'refused';
}

function withResolvers<Value>() {
  let resolve: (value: Value) => void = () => {};
  let reject: (error: EtcdError) => void = () => {};
  const promise = new Promise<Value>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}
