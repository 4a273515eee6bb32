/**
 * One question on the slow way, as handlers see it.
 */
import { toKey } from '../wire/name.ts';
import type { Asked } from '../wire/query.ts';
import type { Edns, NameKey, Question } from '../wire/types.ts';

/** Who asks, and how. */
export interface Client {
  readonly address: string;
  readonly port: number;
  readonly transport: 'udp' | 'tcp' | 'tls' | 'https';
}

export class Query {
  readonly question: Question;
  /** The question's name in lower case. */
  readonly key: NameKey;
  readonly recursionDesired: boolean;
  readonly checkingDisabled: boolean;
  readonly edns: Edns | undefined;
  readonly #asked: Asked;
  readonly #client: Client;
  readonly #mark: { clientWasRead: boolean };

  /** @param origin the query that led to this one */
  constructor(question: Question, asked: Asked, client: Client, origin?: Query) {
    this.question = question;
    this.key = toKey(question.name);
    this.recursionDesired = asked.header.recursionDesired;
    this.checkingDisabled = asked.header.checkingDisabled;
    this.edns = asked.edns;
    this.#client = client;
    this.#mark = origin === undefined ? { clientWasRead: false } : origin.#mark;
    this.#asked = asked;
  }

  /** Whoever looks at it makes the answer one for this client alone: it is never remembered. */
  get client(): Client {
    this.#mark.clientWasRead = true;
    return this.#client;
  }

  /** Whom the work for this query counts for. What the answer is must not depend on it. */
  get account(): string {
    return this.#client.address;
  }

  /** Whether a handler has looked at the client, for this question or one that it led to. */
  get clientWasRead(): boolean {
    return this.#mark.clientWasRead;
  }

  /** The same query about something else. */
  about(question: Question): Query {
    return new Query(question, this.#asked, this.#client, this);
  }
}
