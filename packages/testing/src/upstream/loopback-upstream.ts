/**
 * An upstream server on loopback, with UDP and TCP (or TLS) on one port, that reacts to each query as the test says.
 */
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { FrameParser, frame } from '@portolan/dns/frames.ts';
import { encodeMessage } from '@portolan/dns/message.ts';
import { typeName } from '@portolan/dns/mnemonics.ts';
import type { Message } from '@portolan/dns/types.ts';
import { type React, ReceivedQuery } from './received-query.ts';

const ADDRESS = '127.0.0.1';
/** As much as the kernel gives: a flood is to be lost elsewhere. */
const RECEIVE_BUFFER = 2 ** 20;

export interface LoopbackOptions {
  /** TLS on its streams. */
  readonly tls?: TlsOptions | undefined;
  /** Default: a free one. */
  readonly port?: number;
  /** Whether queries are decoded when they come, and `queries` has them. A flood is only counted. Default: true. */
  readonly remembers?: boolean;
}

interface Sockets {
  readonly udp: UdpSocket;
  readonly streams: Server;
}

export class LoopbackUpstream {
  react: React;
  /** All that came, the last one last. */
  readonly queries: ReceivedQuery[] = [];
  /** How many came. */
  count = 0;
  connections = 0;
  /** Connections that resumed a TLS session. */
  resumed = 0;
  readonly #tls: TlsOptions | undefined;
  readonly #remembers: boolean;
  readonly #open = new Set<Socket>();
  #port = 0;
  #sockets: Sockets | undefined;

  private constructor(react: React, { tls, remembers = true }: LoopbackOptions) {
    this.react = react;
    this.#tls = tls;
    this.#remembers = remembers;
  }

  static async start(react: React, options: LoopbackOptions = {}): Promise<LoopbackUpstream> {
    const upstream = new LoopbackUpstream(react, options);
    await upstream.#listen(options.port ?? 0);
    return upstream;
  }

  /** Stays the same after a stop. */
  get port(): number {
    return this.#port;
  }

  get address(): string {
    return `${ADDRESS}:${this.#port}`;
  }

  /** Its UDP socket. Throws while it is stopped. */
  get udp(): UdpSocket {
    if (this.#sockets === undefined) throw new Error('the upstream server is stopped');
    return this.#sockets.udp;
  }

  /** What it was asked, as `name type`, without the tests for loops of the forwarder. */
  get questions(): readonly string[] {
    return this.queries
      .map(({ query }) => formatQuestion(query))
      .filter((text) => !/^[0-9a-f]{32}\./.test(text));
  }

  /** Cuts all connections. */
  cut(): void {
    for (const socket of this.#open) socket.destroy();
  }

  /** Its port refuses everything from now on, and what it was about to send goes nowhere. May be called again. */
  async stop(): Promise<void> {
    const sockets = this.#sockets;
    if (sockets === undefined) return;
    this.#sockets = undefined;
    this.cut();
    const closed = once(sockets.streams, 'close');
    sockets.streams.close();
    sockets.udp.close();
    await closed;
  }

  /** At the same port as before. */
  async startAgain(): Promise<void> {
    await this.#listen(this.#port);
  }

  serve(socket: Socket): void {
    this.connections += 1;
    socket.setNoDelay(true);
    if (
      'isSessionReused' in socket &&
      (socket as unknown as { isSessionReused(): boolean }).isSessionReused()
    )
      this.resumed += 1;
    this.#open.add(socket);
    socket.on('close', () => this.#open.delete(socket));
    socket.on('error', () => {});
    const frames = new FrameParser();
    const path = {
      over: 'stream',
      port: socket.remotePort ?? 0,
      connection: socket,
      send: (reply: Message | Uint8Array) => void socket.write(frame(toOctets(reply))),
      after: this.#makeTimer(),
      cut: () => void socket.destroy(),
    } as const;
    socket.on('data', (chunk: Uint8Array) => {
      for (const message of frames.messages(chunk)) this.#take(new ReceivedQuery(message.slice(), path));
    });
  }

  /** @param port 0 for any */
  async #listen(port: number): Promise<void> {
    for (;;) {
      const udp = createSocket({ type: 'udp4', recvBufferSize: RECEIVE_BUFFER });
      udp.bind(port, ADDRESS);
      await once(udp, 'listening');
      this.#port = udp.address().port;
      const serve = (socket: Socket) => this.serve(socket);
      const streams = this.#tls === undefined ? createServer(serve) : createTlsServer(this.#tls, serve);
      this.#sockets = { udp, streams };
      this.#receive(udp);
      streams.listen(this.#port, ADDRESS);
      try {
        await once(streams, 'listening');
        return;
      } catch (error) {
        // The port is taken for TCP.
        udp.close();
        if (port !== 0) throw error;
      }
    }
  }

  #receive(udp: UdpSocket): void {
    const after = this.#makeTimer();
    udp.on('message', (packet, { port, address }) => {
      const send = (reply: Message | Uint8Array) => {
        // A reply to a socket that is closed by now is no error.
        if (this.#sockets?.udp === udp) udp.send(toOctets(reply), port, address, () => {});
      };
      this.#take(
        new ReceivedQuery(packet, { over: 'udp', port, connection: undefined, send, after, cut() {} }),
      );
    });
    udp.on('error', () => {});
  }

  #makeTimer(): ReceivedQuery['after'] {
    const sockets = this.#sockets;
    return (milliseconds, run) =>
      void setTimeout(() => {
        if (this.#sockets === sockets) run();
      }, milliseconds).unref();
  }

  #take(received: ReceivedQuery): void {
    this.count += 1;
    if (this.#remembers) this.queries.push(received.decode());
    this.react(received);
  }
}

function toOctets(reply: Message | Uint8Array): Uint8Array {
  return reply instanceof Uint8Array ? reply : encodeMessage(reply);
}

function formatQuestion({ questions: [question] }: Message): string {
  return question === undefined ? '' : `${question.name.toLowerCase()} ${typeName(question.type)}`;
}
