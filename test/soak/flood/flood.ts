/**
 * A flood of questions for names that do not exist, from several clients.
 */
import { createSocket, type Socket } from 'node:dgram';
import { encodeMessage } from '@portolan/dns/message.ts';
import { makeQuery } from '@portolan/testing/client/ask.ts';

export class Flood {
  answered = 0;
  /** With the answers heard since the last look. */
  readonly #clients = new Map<Socket, number>();
  readonly #timer: NodeJS.Timeout;
  /** Questions of one client that are unanswered at once. */
  readonly #outstanding: number;
  #asked = 0;
  #isOver = false;

  constructor(port: number, clients: number, outstanding: number) {
    this.#outstanding = outstanding;
    for (let index = 0; index < clients; index += 1) this.#open(port);
    // A client without a reply sends again.
    this.#timer = setInterval(() => {
      for (const [socket, heard] of this.#clients) {
        if (heard === 0) this.#begin(socket);
        this.#clients.set(socket, 0);
      }
    }, 1_000);
  }

  stop(): void {
    this.#isOver = true;
    clearInterval(this.#timer);
    for (const socket of this.#clients.keys()) socket.close();
    this.#clients.clear();
  }

  #open(port: number): void {
    const socket = createSocket('udp4');
    this.#clients.set(socket, 1);
    socket.on('message', () => {
      this.answered += 1;
      this.#clients.set(socket, (this.#clients.get(socket) ?? 0) + 1);
      this.#ask(socket);
    });
    socket.on('error', () => {});
    socket.connect(port, '127.0.0.1', () => this.#begin(socket));
  }

  #begin(socket: Socket): void {
    for (let index = 0; index < this.#outstanding; index += 1) this.#ask(socket);
  }

  #ask(socket: Socket): void {
    if (this.#isOver) return;
    this.#asked += 1;
    const label = `${this.#asked.toString(36)}${Math.random().toString(36).slice(2)}`;
    socket.send(encodeMessage(makeQuery(`${label}.flood.example`, 'A')));
  }
}
