/**
 * A server that is asked over UDP and TCP: from a few sockets, since a socket for each question would cost more than the question.
 */
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { connect, type Socket } from 'node:net';
import { FrameParser, frame } from '@portolan/dns/frames.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { type AskedQuestion, encodeQuestion } from './asked-question.ts';
import { PendingReplies } from './pending-replies.ts';
import type { QueryResponder, QueryResponderReply } from './query-responder.ts';

export interface AskedPlace {
  /** `tcp`: all questions. Over UDP, those with a truncated reply are asked again over TCP. */
  readonly transport: 'udp' | 'tcp';
  /** An IP address. */
  readonly address: string;
  readonly port: number;
}

interface AskingTerms {
  readonly place: AskedPlace;
  /** Milliseconds until a question counts as not replied to. */
  readonly timeout: number;
  readonly clock: Clock;
}

/** Several: servers that share a port among sockets choose by the client's port. */
const UDP_SOCKETS = 8;

export class AskedServer implements QueryResponder {
  readonly #isStream: boolean;
  readonly #datagrams: readonly DatagramChannel[];
  readonly #stream: StreamChannel;
  #asked = 0;

  constructor(place: AskedPlace, timeout: number, clock: Clock) {
    const settings = { place, timeout, clock };
    this.#isStream = place.transport === 'tcp';
    const sockets = this.#isStream ? 0 : UDP_SOCKETS;
    this.#datagrams = Array.from({ length: sockets }, () => new DatagramChannel(settings));
    this.#stream = new StreamChannel(settings);
  }

  async ask(question: AskedQuestion, byStream: boolean): Promise<QueryResponderReply> {
    this.#asked += 1;
    const channel = byStream ? undefined : this.#datagrams[this.#asked % UDP_SOCKETS];
    if (channel !== undefined) return await channel.ask(question);
    const reply = await this.#stream.ask(question);
    // The server may have closed the connection, idle until now, while the query was under way.
    if (reply.kind === 'replied' || reply.reason !== 'connection closed') return reply;
    return await this.#stream.ask(question);
  }

  close(): void {
    for (const channel of this.#datagrams) channel.close();
    this.#stream.close();
  }
}

/** Connected, so that the kernel accepts only packets of the server, and reports a closed port. */
class DatagramChannel {
  readonly #place: AskedPlace;
  readonly #pending: PendingReplies;
  #socket: Promise<UdpSocket> | undefined;

  constructor({ place, timeout, clock }: AskingTerms) {
    this.#place = place;
    this.#pending = new PendingReplies(clock, timeout);
  }

  async ask(question: AskedQuestion): Promise<QueryResponderReply> {
    this.#socket ??= this.#open();
    const socket = await this.#socket.catch(() => undefined);
    if (socket === undefined) {
      this.#socket = undefined;
      return { kind: 'failed', reason: 'connection refused' };
    }
    return await this.#pending.wait(question, (id) =>
      socket.send(encodeQuestion(question, id), (error) => {
        if (error !== null) this.#pending.failAll('connection refused');
      }),
    );
  }

  close(): void {
    this.#socket?.then(
      (socket) => socket.close(),
      () => {},
    );
    this.#socket = undefined;
  }

  #open(): Promise<UdpSocket> {
    const { address, port } = this.#place;
    const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
    socket.on('message', (packet) => this.#pending.receive(packet));
    return new Promise((resolve, reject) => {
      socket.on('error', (error) => {
        reject(error);
        // An ICMP error: for which query, it does not say.
        this.#pending.failAll('connection refused');
      });
      socket.connect(port, address, (error?: Error) => {
        if (error === undefined) resolve(socket);
        else reject(error);
      });
    });
  }
}

/** One connection for all questions, opened again when it was closed. */
class StreamChannel {
  readonly #place: AskedPlace;
  readonly #pending: PendingReplies;
  #socket: Socket | undefined;

  constructor({ place, timeout, clock }: AskingTerms) {
    this.#place = place;
    this.#pending = new PendingReplies(clock, timeout);
  }

  async ask(question: AskedQuestion): Promise<QueryResponderReply> {
    const socket = this.#socket ?? this.#open();
    return await this.#pending.wait(question, (id) => socket.write(frame(encodeQuestion(question, id))));
  }

  close(): void {
    this.#socket?.destroy();
  }

  #open(): Socket {
    const { address, port } = this.#place;
    const socket = connect({ host: address, port });
    const parser = new FrameParser();
    let isRefused = false;
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk) => {
      for (const message of parser.messages(chunk)) this.#pending.receive(message);
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      isRefused = error.code === 'ECONNREFUSED';
    });
    socket.on('close', () => {
      if (this.#socket === socket) this.#socket = undefined;
      this.#pending.failAll(isRefused ? 'connection refused' : 'connection closed');
    });
    return socket;
  }
}
