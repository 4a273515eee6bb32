/**
 * The side of a comparison that answers in this process, with the plugins and the names of a server, but without its sockets.
 */
import { decodeMessage } from '@portolan/dns/message.ts';
import { toKey } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Client } from '@portolan/kernel/chain/query.ts';
import { type AskedQuestion, encodeQuestion } from '../compare/asked-question.ts';
import type { QueryResponder, QueryResponderReply } from '../compare/query-responder.ts';

export interface OwnServer {
  answer(key: NameKey, packet: Uint8Array, client: Client): Promise<Uint8Array | undefined>;
  stop(): Promise<void>;
}

/** The client that the other server sees is this machine as well. */
const CLIENT = { address: '127.0.0.1', port: 53_535 };

export class EmbeddedResponder implements QueryResponder {
  readonly #server: OwnServer;
  readonly #timeout: number;
  readonly #clock: Clock;

  /** @param timeout milliseconds until a question counts as not replied to */
  constructor(server: OwnServer, timeout: number, clock: Clock) {
    this.#server = server;
    this.#timeout = timeout;
    this.#clock = clock;
  }

  async ask(question: AskedQuestion, byStream: boolean): Promise<QueryResponderReply> {
    const began = this.#clock.monotonic();
    const client: Client = { ...CLIENT, transport: byStream ? 'tcp' : 'udp' };
    const answered = this.#server.answer(toKey(question.name), encodeQuestion(question, 0), client);
    const octets = await this.#inTime(answered);
    if (octets === undefined) return { kind: 'failed', reason: 'no reply' };
    const milliseconds = this.#clock.monotonic() - began;
    return { kind: 'replied', message: decodeMessage(octets), milliseconds };
  }

  async close(): Promise<void> {
    await this.#server.stop();
  }

  #inTime<Value>(value: Promise<Value>): Promise<Value | undefined> {
    return new Promise((resolve, reject) => {
      const timer = this.#clock.after(this.#timeout, () => resolve(undefined));
      value.then(resolve, reject).finally(() => timer.cancel());
    });
  }
}
