/**
 * A connection to a collector of dnstap, opened again when it is lost. Frames wait in a bounded queue; frames beyond it are dropped and
 * counted, so a slow collector never holds up an answer.
 */
import { connect, type Socket } from 'node:net';
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { CONTROL, ControlReader, controlFrame, dataFrame } from './frame-stream.ts';
import type { TapEndpoint, TapOptions } from './options.ts';

/** Milliseconds, as in CoreDNS. */
const OPENING = 4_000;
const CHECK = 10_000;
/** How long the collector may take to confirm the end. */
const ENDING = 1_000;

/** Loaded when first used: most collectors are asked without TLS, which takes a megabyte. */
const loadTls = () => process.getBuiltinModule('node:tls');

export type TapConnectionOptions = Pick<TapOptions, 'endpoint' | 'maxQueued' | 'maxOctets'>;

export interface TapConnectionDependencies {
  readonly clock: Clock;
  readonly log: Log;
}

export class TapConnection {
  readonly #options: TapConnectionOptions;
  readonly #clock: Clock;
  readonly #log: Log;
  #socket: Socket | undefined;
  /** Whether the collector takes data frames. */
  #isReady = false;
  #queue: Buffer[] = [];
  #octets = 0;
  #dropped = 0;
  #isFlushing = false;
  #isStopped = false;
  #timer: Timer | undefined;
  #onEnd: () => void = () => {};

  constructor(options: TapConnectionOptions, { clock, log }: TapConnectionDependencies) {
    this.#options = options;
    this.#clock = clock;
    this.#log = log;
  }

  start(): void {
    this.#open((reason) => this.#log.error(`plugin/dnstap: No connection to dnstap endpoint: ${reason}`));
    this.#checkLater();
  }

  /** Sends a message, or drops it if too many wait. */
  send(message: Uint8Array): void {
    const { maxQueued, maxOctets } = this.#options;
    if (this.#isStopped) return;
    if (this.#queue.length >= maxQueued || this.#octets + message.length > maxOctets) {
      this.#dropped += 1;
      return;
    }
    const frame = dataFrame(message);
    this.#queue.push(frame);
    this.#octets += frame.length;
    this.#flushLater();
  }

  /** Sends what waits, and ends the stream. */
  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#flush();
    this.#isStopped = true;
    this.#timer?.cancel();
    const socket = this.#socket;
    if (socket === undefined || !this.#isReady) {
      socket?.destroy();
      return;
    }
    await new Promise<void>((resolve) => {
      const timer = this.#clock.after(ENDING, resolve);
      this.#onEnd = () => {
        timer.cancel();
        resolve();
      };
      socket.write(controlFrame(CONTROL.STOP));
    });
    socket.destroy();
  }

  #flushLater(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    // One write for the messages of one turn.
    setImmediate(() => {
      this.#isFlushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    const socket = this.#socket;
    if (!this.#isReady || socket === undefined || socket.writableNeedDrain || this.#queue.length === 0)
      return;
    socket.write(Buffer.concat(this.#queue));
    this.#queue = [];
    this.#octets = 0;
  }

  #checkLater(): void {
    this.#timer = this.#clock.after(CHECK, () => {
      if (this.#dropped > 0) this.#log.warn(`plugin/dnstap: Dropped dnstap messages: ${this.#dropped}`);
      this.#dropped = 0;
      if (this.#socket === undefined) this.#open(() => {});
      this.#checkLater();
    });
  }

  #open(onFailure: (reason: string) => void): void {
    const { endpoint } = this.#options;
    const socket = openSocket(endpoint);
    const reader = new ControlReader();
    let fault: string | undefined;
    this.#socket = socket;
    const timer = this.#clock.after(OPENING, () => {
      fault = 'i/o timeout';
      socket.destroy();
    });
    socket.on(endpoint.kind === 'tls' ? 'secureConnect' : 'connect', () =>
      socket.write(controlFrame(CONTROL.READY)),
    );
    socket.on('data', (octets) => {
      reader.push(octets);
      for (let next = reader.next(); next.kind !== 'incomplete'; next = reader.next()) {
        if (next.kind === 'wrong' || (next.type === CONTROL.ACCEPT && !next.accepts)) {
          fault = 'the collector does not take protobuf:dnstap.Dnstap';
          socket.destroy();
          return;
        }
        if (next.type === CONTROL.ACCEPT) this.#accepted(socket, timer);
        if (next.type === CONTROL.FINISH) this.#onEnd();
      }
    });
    socket.on('drain', () => this.#flush());
    socket.on('error', ({ message }) => {
      fault ??= message;
    });
    socket.on('close', () => {
      timer.cancel();
      const wasReady = this.#isReady;
      this.#socket = undefined;
      this.#isReady = false;
      this.#onEnd();
      if (this.#isStopped) return;
      // A collector that restarts is there again soon; one that was never there is tried every 10 seconds.
      if (wasReady) this.#open(() => {});
      else onFailure(fault ?? 'connection closed');
    });
  }

  #accepted(socket: Socket, timer: Timer): void {
    timer.cancel();
    socket.write(controlFrame(CONTROL.START));
    this.#isReady = true;
    this.#flush();
  }
}

function openSocket(endpoint: TapEndpoint): Socket {
  if (endpoint.kind === 'unix') return connect({ path: endpoint.path });
  const { host, port, skipsVerification } = endpoint;
  if (endpoint.kind === 'tcp') return connect({ host, port });
  return loadTls().connect({ host, port, servername: host, rejectUnauthorized: !skipsVerification });
}
