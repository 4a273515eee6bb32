/**
 * The questions that servers report by dnstap: takes their connections, as a collector does, and reads the queries of clients.
 *
 * Questions wait in a bounded queue. Those beyond it are dropped and counted, so that a server never waits for the comparison.
 */
import { createServer, type Server, type Socket } from 'node:net';
import { readItem } from '@portolan/kernel/base/item-guard.ts';
import { CONTROL, controlFrame, FrameReader } from '@portolan/plugins/dnstap/frame-stream.ts';
import { readClientQuery } from '@portolan/plugins/dnstap/read-tap-message.ts';
import type { AskedQuestion } from '../compare/asked-question.ts';
import type { LeftOut } from '../compare/question-source.ts';
import { questionOfPacket } from './query-packet.ts';

export type TapListenPlace =
  | { readonly kind: 'unix'; readonly path: string }
  | { readonly kind: 'tcp'; readonly address: string; readonly port: number };

const MAX_WAITING = 10_000;
const MAX_CONNECTIONS = 64;

export class LiveQuestions implements AsyncIterable<AskedQuestion> {
  readonly #leftOut: LeftOut;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #waiting: AskedQuestion[] = [];
  #wake: () => void = () => {};

  constructor(leftOut: LeftOut) {
    this.#leftOut = leftOut;
    this.#server = createServer((socket) => this.#accept(socket));
    this.#server.maxConnections = MAX_CONNECTIONS;
  }

  /** @throws the error of the system */
  async listen(place: TapListenPlace): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      // After the start: for example too many open files, and the next connection may succeed.
      this.#server.on('error', reject);
      const where = place.kind === 'unix' ? { path: place.path } : { host: place.address, port: place.port };
      this.#server.listen(where, resolve);
    });
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<AskedQuestion> {
    for (;;) {
      const batch = this.#waiting;
      this.#waiting = [];
      yield* batch;
      if (this.#waiting.length === 0)
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }

  #accept(socket: Socket): void {
    const reader = new FrameReader();
    this.#sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('data', (octets) => {
      for (const frame of reader.read(octets)) {
        if (frame.kind === 'wrong' || (frame.kind === 'control' && !frame.accepts)) {
          this.#leftOut.add('a connection', 'not a stream of dnstap');
          socket.destroy();
          return;
        }
        if (frame.kind === 'data') this.#take(frame.octets);
        else if (frame.type === CONTROL.READY) socket.write(controlFrame(CONTROL.ACCEPT));
        else if (frame.type === CONTROL.STOP) socket.end(controlFrame(CONTROL.FINISH));
      }
    });
  }

  #take(octets: Buffer): void {
    const reading = readItem(() => {
      const query = readClientQuery(octets);
      return query && questionOfPacket(query);
    });
    if (reading.kind === 'rejected') this.#leftOut.add('a message of dnstap', reading.problem);
    else if (reading.result === undefined) return;
    else if (this.#waiting.length >= MAX_WAITING) this.#leftOut.add('a question', 'more than --rate allows');
    else {
      this.#waiting.push(reading.result);
      this.#wake();
    }
  }
}
