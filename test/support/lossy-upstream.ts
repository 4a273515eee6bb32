/**
 * An upstream server behind a slow path that loses packets: every name has an address, some queries get no reply.
 */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';

/** An A record for the name of the question, which lives for an hour. */
const RECORD = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0x0e, 0x10, 0, 4, 192, 0, 2, 1]);
/** EDNS without options, 1232 octets. */
const OPT = Buffer.from([0, 0, 41, 4, 0xd0, 0, 0, 0, 0, 0, 0]);
const MIN_DELAY = 5;
const MAX_DELAY = 10;

export class LossyUpstream {
  /** The part of the queries that is lost, from 0 to 1; and until when every reply waits, of `performance.now`. */
  loss = 0;
  stalledUntil = 0;
  /** Queries that came, lost ones included. */
  queries = 0;
  readonly #socket: Socket;
  readonly #random: () => number;
  #isStopped = false;

  private constructor(socket: Socket, random: () => number) {
    this.#socket = socket;
    this.#random = random;
    socket.on('message', (query, { port, address }) => this.#take(query, port, address));
    socket.on('error', () => {});
  }

  /** @param random from 0 to below 1: draws losses and delays */
  static async start(random: () => number): Promise<LossyUpstream> {
    const socket = createSocket({ type: 'udp4', recvBufferSize: 2 ** 20 });
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return new LossyUpstream(socket, random);
  }

  get port(): number {
    return this.#socket.address().port;
  }

  /** May be called again. */
  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#socket.removeAllListeners('message');
    this.#socket.close();
  }

  #take(query: Buffer, port: number, address: string): void {
    this.queries += 1;
    const draw = this.#random();
    const share = this.#random();
    if (draw < this.loss) return;
    const delay = MIN_DELAY + share * (MAX_DELAY - MIN_DELAY);
    const stalled = Math.max(0, this.stalledUntil - performance.now());
    const send = () => {
      if (!this.#isStopped) this.#socket.send(replyTo(query), port, address, () => {});
    };
    setTimeout(send, stalled + delay).unref();
  }
}

function replyTo(query: Buffer): Buffer {
  let end = 12;
  while ((query[end] ?? 0) !== 0) end += (query[end] ?? 0) + 1;
  const hasOpt = query.readUInt16BE(10) > 0;
  const reply = Buffer.concat([query.subarray(0, end + 5), RECORD, ...(hasOpt ? [OPT] : [])]);
  reply.writeUInt16BE(0x8180, 2);
  reply.set([0, 1, 0, 0, 0, hasOpt ? 1 : 0], 6);
  return reply;
}
