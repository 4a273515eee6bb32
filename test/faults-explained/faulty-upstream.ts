/**
 * An upstream server whose faults are made and undone while a test runs, at a port that stays the same.
 */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { decodeMessage, encodeMessage } from '@portolan/dns/message.ts';
import { CLASS, RCODE, TYPE } from '@portolan/dns/types.ts';

const ADDRESS = '127.0.0.1';
/** The names that do not exist. */
const MISSING = /(?:^|\.)invalid\.$/i;

export class FaultyUpstream {
  #socket: Socket | undefined;
  readonly port: number;
  /** Milliseconds until it replies. */
  delay = 0;
  /** The response code of all its replies; undefined: by the name. */
  rcode: number | undefined;
  isSilent = false;
  /** Names that it denies. */
  readonly denied = new Set<string>();

  private constructor(socket: Socket) {
    this.port = socket.address().port;
    this.#take(socket);
  }

  static async start(): Promise<FaultyUpstream> {
    return new FaultyUpstream(await bind(0));
  }

  /** Its port refuses all packets from now on. */
  stop(): void {
    this.#socket?.close();
    this.#socket = undefined;
  }

  async startAgain(): Promise<void> {
    this.#take(await bind(this.port));
  }

  #take(socket: Socket): void {
    this.#socket = socket;
    socket.on('message', (packet, { port, address }) => {
      if (this.isSilent) return;
      const reply = this.#replyTo(packet);
      const send = () => this.#socket?.send(reply, port, address, () => {});
      if (this.delay === 0) send();
      else setTimeout(send, this.delay).unref();
    });
  }

  #replyTo(packet: Uint8Array): Uint8Array {
    const query = decodeMessage(packet);
    const [question] = query.questions;
    const name = question?.name ?? '.';
    const isMissing = MISSING.test(name) || this.denied.has(name.toLowerCase());
    const rcode = this.rcode ?? (isMissing ? RCODE.NXDOMAIN : RCODE.NOERROR);
    const answers =
      rcode === RCODE.NOERROR && question?.type === TYPE.A
        ? [
            {
              name: question.name,
              class: CLASS.IN,
              ttl: 1,
              data: { kind: 'A', address: '192.0.2.1' } as const,
            },
          ]
        : [];
    const header = { ...query.header, response: true, recursionAvailable: true, rcode };
    return encodeMessage({ ...query, header, answers, edns: undefined });
  }
}

async function bind(port: number): Promise<Socket> {
  const socket = createSocket('udp4').bind(port, ADDRESS);
  await once(socket, 'listening');
  return socket.on('error', () => {});
}
