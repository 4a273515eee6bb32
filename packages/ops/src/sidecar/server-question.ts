/**
 * Sends one question to one server over UDP, from a random port with a random ID. Returns the reply, or why it failed.
 *
 * Reasons have the words of the Go programs that it replaces, since they appear in events of the kubelet. A query always ends
 * within its time-out: packets that are not a reply to it are ignored.
 */

import { createSocket, type Socket } from 'node:dgram';
import { decodeMessage } from '@portolan/dns/message.ts';
import type { Message, Question } from '@portolan/dns/types.ts';
import { WireError } from '@portolan/dns/wire-error.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { formatSocketAddress } from '@portolan/kernel/base/socket-address.ts';
import { describeSystemError } from '@portolan/kernel/base/system-errors.ts';
import {
  type ForwardQuestion,
  idOfReply,
  type QueryMessage,
  repeatsQuestion,
  withId,
  writeQuery,
} from '@portolan/kernel/forward/transport/query-message.ts';
import { randomId } from '@portolan/kernel/forward/transport/random-ids.ts';

export type ServerReply =
  /** `latency` in milliseconds, from sending to receiving. */
  | { readonly kind: 'replied'; readonly message: Message; readonly latency: number }
  | { readonly kind: 'failed'; readonly reason: string };

/** Milliseconds that a server has for its reply, as in the original. */
export const QUERY_TIMEOUT = 2_000;

export interface ServerEndpoint {
  /** An IP address. */
  readonly address: string;
  readonly port: number;
}

/** Asks once, without EDNS, as the original does. Never rejects. */
export function askServer(server: ServerEndpoint, question: Question, clock: Clock): Promise<ServerReply> {
  const query = writeQuery({ ...question, ...PLAIN }, undefined);
  return new Promise((resolve) => new SocketExchange(server, query, clock, resolve).begin());
}

const PLAIN: Pick<ForwardQuestion, 'dnssecOk' | 'checkingDisabled' | 'recursionDesired'> = {
  dnssecOk: false,
  checkingDisabled: false,
  recursionDesired: true,
};

class SocketExchange {
  readonly #server: ServerEndpoint;
  readonly #query: QueryMessage;
  readonly #clock: Clock;
  readonly #socket: Socket;
  readonly #id = randomId();
  readonly #resolve: (reply: ServerReply) => void;
  #sentAt = 0;
  #isOver = false;
  /** Both endpoints, once the socket is connected. */
  #ends = '';

  constructor(
    server: ServerEndpoint,
    query: QueryMessage,
    clock: Clock,
    resolve: (reply: ServerReply) => void,
  ) {
    this.#server = server;
    this.#query = query;
    this.#clock = clock;
    this.#resolve = resolve;
    this.#socket = createSocket(server.address.includes(':') ? 'udp6' : 'udp4');
  }

  begin(): void {
    const { address, port } = this.#server;
    const timeout = this.#clock.after(QUERY_TIMEOUT, () => this.#fail(`read udp ${this.#ends}: i/o timeout`));
    this.#socket.on('close', () => timeout.cancel());
    this.#socket.on('message', (packet) => this.#receive(packet));
    // The socket reports an ICMP error for a sent packet as its own error.
    this.#socket.on('error', (error) =>
      this.#fail(`read udp ${this.#ends}: read: ${describeSystemError(error)}`),
    );
    const onConnect = (error?: Error) => {
      if (this.#isOver) return;
      if (error === undefined) this.#send();
      else
        this.#fail(`dial udp ${formatSocketAddress(this.#server)}: connect: ${describeSystemError(error)}`);
    };
    // Connected, so that the kernel accepts only packets of the server, and reports a closed port.
    this.#socket.connect(port, address, onConnect);
  }

  #send(): void {
    this.#ends = `${formatSocketAddress(this.#socket.address())}->${formatSocketAddress(this.#server)}`;
    this.#sentAt = this.#clock.monotonic();
    this.#socket.send(withId(this.#query, this.#id), (error) => {
      if (error !== null) this.#fail(`write udp ${this.#ends}: write: ${describeSystemError(error)}`);
    });
  }

  #receive(packet: Uint8Array): void {
    const latency = this.#clock.monotonic() - this.#sentAt;
    if (idOfReply(packet, 0, packet.length) !== this.#id) return;
    if (!repeatsQuestion(packet, 0, packet.length, this.#query)) return;
    try {
      this.#end({ kind: 'replied', message: decodeMessage(packet), latency });
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this.#fail(`malformed reply: ${error.message}`);
    }
  }

  #fail(reason: string): void {
    this.#end({ kind: 'failed', reason });
  }

  #end(reply: ServerReply): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#socket.close();
    this.#resolve(reply);
  }
}
