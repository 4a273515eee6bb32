/**
 * A client over UDP or TCP that sends queries and hands out their replies, by id. Many may be under way.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';
import { FrameParser, frame } from '@portolan/dns/frames.ts';
import { encode } from 'dns-packet';

/** Where a server listens, or a reply comes from. */
export interface DnsServer {
  readonly address: string;
  readonly port: number;
}

export interface ClientReply {
  readonly message: Buffer;
  readonly from: DnsServer;
}

export interface ClientOptions {
  /** The server to connect to. A client over UDP may do without: then each query says where it goes. */
  readonly server?: DnsServer;
  /** An address of this machine to ask from. */
  readonly from?: string | undefined;
  /** Of UDP. Default: that of the server. */
  readonly family?: 'udp4' | 'udp6';
  /** Milliseconds to connect in. */
  readonly deadline?: number;
}

export interface ExchangeOptions {
  /** Where the query goes, unless the client is connected. */
  readonly to?: DnsServer;
  /** Milliseconds to wait for the reply. Default: 15,000, as a busy machine may be slow. */
  readonly deadline?: number;
  /** Octets before the query. */
  readonly before?: Uint8Array;
  /** For the error. */
  readonly what?: string;
}

interface Waiting {
  readonly resolve: (reply: ClientReply) => void;
  readonly reject: (error: Error) => void;
}

interface ClientChannel {
  send(octets: Uint8Array, to: DnsServer | undefined): void;
  close(): Promise<void>;
}

const DEADLINE = 15_000;

export class DnsClient {
  /** Replies to no query of this client, or to one that was answered already. */
  strays = 0;
  readonly #channel: ClientChannel;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;

  private constructor(channel: ClientChannel) {
    this.#channel = channel;
  }

  static async openUdp({ server, from, family }: ClientOptions = {}): Promise<DnsClient> {
    const socket = createSocket(family ?? (server?.address.includes(':') ? 'udp6' : 'udp4'));
    const client = new DnsClient({
      send: (octets, to) => {
        if (to === undefined) socket.send(octets);
        else socket.send(octets, to.port, to.address);
      },
      close: () => new Promise((resolve) => socket.close(() => resolve())),
    });
    socket.on('message', (message, sender) => client.#take(message, sender));
    // A connected socket learns that no server listens.
    socket.on('error', (error) => client.#fail(error));
    try {
      socket.bind(0, from);
      await once(socket, 'listening');
      if (server !== undefined) {
        socket.connect(server.port, server.address);
        await once(socket, 'connect');
      }
    } catch (error) {
      socket.close();
      throw error;
    }
    return client;
  }

  static async openTcp(options: ClientOptions & { readonly server: DnsServer }): Promise<DnsClient> {
    const { server, from, deadline = DEADLINE } = options;
    const socket = connect({
      host: server.address,
      port: server.port,
      ...(from !== undefined && { localAddress: from }),
    });
    const client = new DnsClient({
      send: (octets) => void socket.write(frame(octets)),
      close: async () => void socket.destroy(),
    });
    const frames = new FrameParser();
    socket.on('data', (chunk: Uint8Array) => {
      for (const message of frames.messages(chunk)) client.#take(Buffer.from(message), server);
    });
    socket.on('error', (error) => client.#fail(error));
    socket.on('close', () => client.#fail(new Error('closed without an answer')));
    try {
      await once(socket, 'connect', { signal: AbortSignal.timeout(deadline) });
    } catch (error) {
      socket.destroy();
      throw error;
    }
    return client;
  }

  /** The reply to a query; rejects if it does not come in time, or the network says that it will not. */
  exchange(
    query: Uint8Array,
    { to, deadline = DEADLINE, before, what = 'the query' }: ExchangeOptions = {},
  ): Promise<ClientReply> {
    const id = readId(query);
    return new Promise<ClientReply>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        reject(new Error(`no answer in ${deadline} ms: ${what}`));
      }, deadline);
      this.#waiting.set(id, {
        resolve(reply) {
          clearTimeout(timer);
          resolve(reply);
        },
        reject(error) {
          clearTimeout(timer);
          reject(error);
        },
      });
      this.send(before === undefined ? query : Buffer.concat([before, query]), to);
    });
  }

  /** The reply to a question for the address of a name. @param to the server */
  ask(name: string, to: DnsServer, options: Omit<ExchangeOptions, 'to' | 'what'> = {}): Promise<ClientReply> {
    do this.#lastId = (this.#lastId + 1) & 0xffff;
    while (this.#waiting.has(this.#lastId));
    return this.exchange(queryFor(name, this.#lastId), { ...options, to, what: name });
  }

  /** Sends octets whose reply, if any, will be a stray. */
  send(octets: Uint8Array, to?: DnsServer): void {
    this.#channel.send(octets, to);
  }

  async close(): Promise<void> {
    await this.#channel.close();
  }

  #take(message: Buffer, from: DnsServer): void {
    const waiting = this.#waiting.get(readId(message));
    this.#waiting.delete(readId(message));
    if (waiting === undefined) this.strays += 1;
    else waiting.resolve({ message, from });
  }

  #fail(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

/** A query in wire form, by an encoder that is not ours. */
export function queryFor(name: string, id: number): Buffer {
  return encode({ type: 'query', id, flags: 0x100, questions: [{ type: 'A', name }] });
}

function readId(message: Uint8Array): number {
  return ((message[0] ?? 0) << 8) | (message[1] ?? 0);
}
