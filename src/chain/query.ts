/**
 * One question on the slow way, as handlers see it.
 */
import type { QuestionKey } from '../forward/question-key.ts';
import { toKey } from '../wire/name.ts';
import type { Asked } from '../wire/query.ts';
import type { Transport } from '../wire/response-size.ts';
import type { Edns, NameKey, Question } from '../wire/types.ts';

/** Who asks, and how. */
export interface Client {
  readonly address: string;
  readonly port: number;
  readonly transport: Transport;
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
  readonly #mark: { clientWasRead: boolean; isDerived: boolean };

  /** @param origin the query that led to this one */
  constructor(question: Question, asked: Asked, client: Client, origin?: Query) {
    this.question = question;
    this.key = toKey(question.name);
    this.recursionDesired = asked.header.recursionDesired;
    this.checkingDisabled = asked.header.checkingDisabled;
    this.edns = asked.edns;
    this.#client = client;
    this.#mark = origin === undefined ? { clientWasRead: false, isDerived: true } : origin.#mark;
    this.#asked = asked;
  }

  /** What makes it equal to another. */
  get questionKey(): QuestionKey {
    const { type, class: dnsClass } = this.question;
    const { checkingDisabled, recursionDesired } = this;
    const dnssecOk = this.edns?.dnssecOk ?? false;
    return { name: this.key, type, class: dnsClass, dnssecOk, checkingDisabled, recursionDesired };
  }

  /** Reading it makes the answer one for this client alone: it is never cached. */
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

  /** To be called by handlers whose answer depends on more than the plan and the publications. */
  forbidStoring(): void {
    this.#mark.isDerived = false;
  }

  /** Whether the answer depends on nothing but the plan and the publications, and may be stored with their epochs. */
  get isDerived(): boolean {
    return this.#mark.isDerived && !this.#mark.clientWasRead && (this.edns?.options.length ?? 0) === 0;
  }

  /** The same query about something else. */
  about(question: Question): Query {
    return new Query(question, this.#asked, this.#client, this);
  }
}
