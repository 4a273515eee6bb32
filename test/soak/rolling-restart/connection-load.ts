/**
 * Clients that repeatedly connect over TCP, ask one question and disconnect; records the result of each.
 */
import { connect } from 'node:net';
import { decodeMessage, encodeMessage } from '@portolan/dns/message.ts';
import { makeQuery } from '@portolan/testing/client/ask.ts';
import type { DnsServer } from '@portolan/testing/client/dns-client.ts';
import { onTestFinished } from 'vitest';
import type { LoadQuestion } from '../../support/burst-load.ts';

type Fate = 'answered' | 'wrong' | 'refused' | 'reset' | 'closed' | 'unanswered';

const DEADLINE_MILLISECONDS = 15_000;

export class ConnectionLoad {
  readonly fates: Record<Fate, number> = {
    answered: 0,
    wrong: 0,
    /** No server listened. */
    refused: 0,
    /** Accepted by the kernel, and by no server: what waits at a listener that closes. */
    reset: 0,
    closed: 0,
    unanswered: 0,
  };
  readonly #server: DnsServer;
  readonly #questions: readonly LoadQuestion[];
  readonly #clients: readonly Promise<void>[];
  #asked = 0;
  #isStopping = false;

  /** @param clients how many connect at the same time; the load ends with the test */
  constructor(server: DnsServer, questions: readonly LoadQuestion[], clients: number) {
    this.#server = server;
    this.#questions = questions;
    this.#clients = Array.from({ length: clients }, () => this.#keepAsking());
    onTestFinished(() => this.stop());
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#clients);
  }

  async #keepAsking(): Promise<void> {
    while (!this.#isStopping) {
      const question = this.#questions[this.#asked % this.#questions.length];
      this.#asked += 1;
      if (question !== undefined) this.fates[await this.#ask(question)] += 1;
    }
  }

  #ask({ name, answer }: LoadQuestion): Promise<Fate> {
    const query = Buffer.from(encodeMessage(makeQuery(name, 'A')));
    return new Promise((resolve) => {
      const socket = connect(this.#server.port, this.#server.address);
      let received = Buffer.alloc(0);
      const end = (fate: Fate) => {
        socket.destroy();
        resolve(fate);
      };
      socket.setTimeout(DEADLINE_MILLISECONDS, () => end('unanswered'));
      socket.on('connect', () => socket.write(Buffer.concat([Buffer.from([0, query.length]), query])));
      socket.on('data', (chunk) => {
        received = Buffer.concat([received, chunk]);
        const length = received.length < 2 ? Number.POSITIVE_INFINITY : 2 + received.readUInt16BE(0);
        if (received.length >= length)
          end(isRight(received.subarray(2), query, answer) ? 'answered' : 'wrong');
      });
      socket.on('error', (error: NodeJS.ErrnoException) =>
        end(error.code === 'ECONNREFUSED' ? 'refused' : 'reset'),
      );
      socket.on('close', () => end('closed'));
    });
  }
}

function isRight(message: Buffer, query: Buffer, answer: string): boolean {
  const { header, answers } = decodeMessage(message);
  const [record] = answers;
  const isOurs = header.response && header.id === query.readUInt16BE(0);
  const given = record !== undefined && 'address' in record.data ? record.data.address : '';
  return isOurs && given === answer;
}
