/**
 * An upstream server on loopback, with UDP and TCP (or TLS) on one port, that handles each query as the test says.
 */
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { FrameParser, frame } from '@portolan/dns/frames.ts';
import { decodeMessage, encodeMessage } from '@portolan/dns/message.ts';
import type { Message, ResourceRecord } from '@portolan/dns/types.ts';

export interface Received {
  readonly query: Message;
  readonly over: 'udp' | 'stream';
  /** The port that it came from. */
  readonly port: number;
  /** The connection that it came on. */
  readonly connection: Socket | undefined;
  send(octets: Uint8Array): void;
}

export type React = (received: Received) => void;

export class LoopbackUpstream {
  readonly port: number;
  readonly queries: Received[] = [];
  connections = 0;
  /** Connections that resumed a TLS session. */
  resumed = 0;
  react: React;
  readonly udp: UdpSocket;
  readonly #server: Server;
  readonly #open = new Set<Socket>();
  #isOpen = true;

  private constructor(udp: UdpSocket, server: Server, react: React) {
    this.udp = udp;
    this.#server = server;
    this.react = react;
    this.port = udp.address().port;
    udp.on('message', (packet, { port, address }) => {
      // A reply that a timer brings after the end goes nowhere.
      const send = (octets: Uint8Array) => void (this.#isOpen && udp.send(octets, port, address));
      this.#take({ query: decodeMessage(packet), over: 'udp', port, connection: undefined, send });
    });
    // A reply to a socket that is closed by now.
    udp.on('error', () => {});
  }

  /** @param port 0 for any */
  static async start(react: React, tls?: TlsOptions, port = 0): Promise<LoopbackUpstream> {
    for (;;) {
      const udp = createSocket('udp4');
      udp.bind(port, '127.0.0.1');
      await once(udp, 'listening');
      let upstream: LoopbackUpstream | undefined;
      const serve = (socket: Socket) => upstream?.serve(socket);
      const server = tls === undefined ? createServer(serve) : createTlsServer(tls, serve);
      upstream = new LoopbackUpstream(udp, server, react);
      server.listen(upstream.port, '127.0.0.1');
      try {
        await once(server, 'listening');
        return upstream;
      } catch {
        // The port is taken for TCP.
        udp.close();
      }
    }
  }

  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
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
    socket.on('data', (chunk: Uint8Array) => {
      for (const message of frames.messages(chunk)) {
        const send = (octets: Uint8Array) => void socket.write(frame(octets));
        const query = decodeMessage(message);
        this.#take({ query, over: 'stream', port: socket.remotePort ?? 0, connection: socket, send });
      }
    });
  }

  /** Cuts all connections. */
  cut(): void {
    for (const socket of this.#open) socket.destroy();
  }

  async stop(): Promise<void> {
    this.#isOpen = false;
    this.cut();
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.udp.close();
    await closed;
  }

  #take(received: Received): void {
    this.queries.push(received);
    this.react(received);
  }
}

/** A reply with these answers, as octets. */
export function reply(query: Message, changes: Partial<Message> = {}): Uint8Array {
  return encodeMessage(replyMessage(query, changes));
}

export function replyMessage(query: Message, changes: Partial<Message> = {}): Message {
  const header = { ...query.header, response: true, recursionAvailable: true };
  return { ...query, header, answers: [makeAddressRecord(query, '192.0.2.1')], ...changes };
}

/** An address record of the name that was asked for. */
export function makeAddressRecord(query: Message, address: string): ResourceRecord {
  const name = query.questions[0]?.name;
  if (name === undefined) throw new Error('a query without a question');
  return { name, class: 1, ttl: 60, data: { kind: 'A', address } };
}
