/**
 * A socket that collectors of dnstap connect to. Each gets all messages from then on; one that does not keep up is closed, so that it holds
 * up no answer and takes no memory.
 */
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { findErrorCode, findMeaning } from '@portolan/kernel/base/system-errors.ts';
import { RefCounted } from '@portolan/kernel/contract/ref-counted.ts';
import type { TlsIdentity, TlsOptions } from '@portolan/kernel/listen/secure/tls-identity.ts';
import { TlsServer } from '@portolan/kernel/listen/secure/tls-server.ts';
import { readIdentity } from '../tls/read-identity.ts';
import { CONTROL, ControlReader, controlFrame, dataFrame } from './frame-stream.ts';
import type { TapEndpoint, TapOptions } from './options.ts';

/** Milliseconds until a collector has accepted the content, as in CoreDNS. */
const OPENING = 4_000;
const ENDING = 1_000;
const MAX_COLLECTORS = 64;

export type TapListenerOptions = Pick<TapOptions, 'endpoint' | 'listens' | 'maxOctets'>;

export interface TapListenerDependencies {
  readonly clock: Clock;
  readonly log: Log;
}

/** The open listeners: those of a plan and of the next one share a socket. */
const listeners = new Map<string, RefCounted<DnstapListener>>();

/** @returns the listener of these options; release it once */
export function shareTapListener(
  options: TapListenerOptions,
  dependencies: TapListenerDependencies,
): RefCounted<DnstapListener> {
  const key = JSON.stringify(options);
  const known = listeners.get(key);
  if (known !== undefined) return known.retain();
  const made = new RefCounted(new DnstapListener(options, dependencies), async (listener) => {
    listeners.delete(key);
    await listener.stop();
  });
  listeners.set(key, made);
  return made.retain();
}

/** A socket for collectors cannot be opened, or its certificate not be used; the message is CoreDNS's. */
export class TapListenError extends Error {
  override readonly name = 'TapListenError';
}

/** @throws TapListenError */
function loadIdentity(certificate: TlsOptions): TlsIdentity {
  try {
    return readIdentity(certificate, (path) => readFileSync(path));
  } catch (error) {
    throw new TapListenError(describeError(error));
  }
}

export class DnstapListener {
  readonly #options: TapListenerOptions;
  readonly #dependencies: TapListenerDependencies;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Those that take data frames. */
  readonly #ready = new Set<Socket>();
  #tls: TlsServer | undefined;
  #started: Promise<void> | undefined;

  constructor(options: TapListenerOptions, dependencies: TapListenerDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  /** Listens, once for all users. @throws TapListenError with the reason why the endpoint or its certificate cannot be used */
  start(): Promise<void> {
    this.#started ??= this.#start();
    return this.#started;
  }

  send(message: Uint8Array): void {
    if (this.#ready.size === 0) return;
    const frame = dataFrame(message);
    for (const socket of this.#ready)
      if (socket.writableLength + frame.length <= this.#options.maxOctets) socket.write(frame);
      else this.#drop(socket, 'it is too slow');
  }

  /** Ends all streams, and closes the socket. */
  async stop(): Promise<void> {
    this.#tls?.stop();
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets)
      if (this.#ready.delete(socket)) this.#end(socket);
      else socket.destroy();
    await closed;
  }

  async #start(): Promise<void> {
    const { endpoint, listens } = this.#options;
    if (listens?.certificate !== undefined) {
      const identity = loadIdentity(listens.certificate);
      this.#tls = new TlsServer({ identity, protocols: [], clock: this.#dependencies.clock });
    }
    if (endpoint.kind === 'unix') await removeDeadSocket(endpoint.path);
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (error) =>
        reject(
          new TapListenError(
            `listen ${formatEndpoint(endpoint)}: bind: ${findMeaning(findErrorCode(error)) ?? error.message}`,
          ),
        ),
      );
      const place =
        endpoint.kind === 'unix' ? { path: endpoint.path } : { host: endpoint.host, port: endpoint.port };
      this.#server.listen(place, resolve);
    });
    this.#server.on('error', ({ message }) =>
      this.#dependencies.log.warn(`plugin/dnstap: Error accepting dnstap connection: ${message}`),
    );
  }

  #accept(socket: Socket): void {
    socket.on('error', () => {});
    if (this.#sockets.size >= MAX_COLLECTORS) {
      this.#drop(socket, 'there are too many');
      return;
    }
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    const timer = this.#dependencies.clock.after(OPENING, () => socket.destroy());
    socket.once('close', () => timer.cancel());
    const onAccepted = (): void => timer.cancel();
    if (this.#tls === undefined) this.#greet(socket, onAccepted);
    else this.#tls.secure(socket, (secured) => this.#greet(secured, onAccepted));
  }

  /** The handshake of Frame Streams: the side with the messages begins. */
  #greet(socket: Socket, onAccepted: () => void): void {
    const reader = new ControlReader();
    // The plain one counts those that are open; this one has the stream.
    this.#sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => {
      this.#sockets.delete(socket);
      this.#ready.delete(socket);
    });
    socket.on('data', (octets: Buffer) => {
      reader.push(octets);
      for (let next = reader.next(); next.kind !== 'incomplete'; next = reader.next()) {
        if (next.kind === 'wrong' || (next.type === CONTROL.ACCEPT && !next.accepts)) {
          this.#drop(socket, 'it does not take protobuf:dnstap.Dnstap');
          return;
        }
        if (next.type === CONTROL.ACCEPT && !this.#ready.has(socket)) {
          onAccepted();
          socket.write(controlFrame(CONTROL.START));
          this.#ready.add(socket);
        }
        if (next.type === CONTROL.FINISH) socket.destroy();
      }
    });
    socket.write(controlFrame(CONTROL.READY));
  }

  #end(socket: Socket): void {
    const timer = this.#dependencies.clock.after(ENDING, () => socket.destroy());
    socket.once('close', () => timer.cancel());
    socket.write(controlFrame(CONTROL.STOP));
  }

  #drop(socket: Socket, reason: string): void {
    this.#ready.delete(socket);
    socket.destroy();
    this.#dependencies.log.warn(
      `plugin/dnstap: Closed a collector at ${formatEndpoint(this.#options.endpoint)}: ${reason}`,
    );
  }
}

/** A process that was killed leaves its socket behind. */
async function removeDeadSocket(path: string): Promise<void> {
  const isDead = await new Promise<boolean>((resolve) => {
    const socket = connect({ path });
    socket.on('connect', () => {
      socket.destroy();
      resolve(false);
    });
    socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'ECONNREFUSED'));
  });
  if (isDead) await rm(path, { force: true });
}

function formatEndpoint(endpoint: TapEndpoint): string {
  return endpoint.kind === 'unix' ? `unix ${endpoint.path}` : `tcp ${endpoint.host}:${endpoint.port}`;
}
