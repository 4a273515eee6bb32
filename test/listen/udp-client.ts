/**
 * A client over UDP that records the answers to its questions and their source addresses.
 */
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { encode } from 'dns-packet';

export interface Reply {
  readonly message: Buffer;
  /** The address that the answer came from. */
  readonly from: RemoteInfo;
}

/** A query in wire form. */
export function queryFor(name: string, id: number): Buffer {
  return encode({ type: 'query', id, flags: 0x100, questions: [{ type: 'A', name }] });
}

export class UdpClient {
  readonly #socket: Socket;
  readonly #waiting = new Map<number, (reply: Reply) => void>();
  readonly #ownAddress: string | undefined;
  #lastId = 0;
  /** Answers to no question of this client, or to one that was answered already. */
  strays = 0;

  /** @param ownAddress the address to send from */
  constructor(family: 'udp4' | 'udp6' = 'udp4', ownAddress?: string) {
    this.#socket = createSocket(family);
    this.#ownAddress = ownAddress;
    this.#socket.on('message', (message, from) => {
      const settle = this.#waiting.get(message.readUInt16BE(0));
      this.#waiting.delete(message.readUInt16BE(0));
      if (settle === undefined) this.strays++;
      else settle({ message, from });
    });
  }

  async open(): Promise<this> {
    await new Promise<void>((resolve) => this.#socket.bind(0, this.#ownAddress, resolve));
    return this;
  }

  /** The answer; rejects if none arrives in time. @param before octets before the query */
  ask(
    name: string,
    port: number,
    address: string,
    milliseconds = 5000,
    before: Uint8Array = new Uint8Array(),
  ): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const id = this.#nextId();
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        reject(new Error(`no answer in ${milliseconds} ms: ${name} from ${address} port ${port}`));
      }, milliseconds);
      this.#waiting.set(id, (reply) => {
        clearTimeout(timer);
        resolve(reply);
      });
      this.#socket.send([before, queryFor(name, id)], port, address);
    });
  }

  /** Sends a question whose answer, if any, will be a stray. */
  send(packet: Uint8Array, port: number, address: string): void {
    this.#socket.send(packet, port, address);
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => this.#socket.close(() => resolve()));
  }

  #nextId(): number {
    do this.#lastId = (this.#lastId + 1) & 0xffff;
    while (this.#waiting.has(this.#lastId));
    return this.#lastId;
  }
}
