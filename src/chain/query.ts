/**
 * One question on the slow way, as handlers see it.
 */
import type { QuestionKey } from '../forward/question-key.ts';
import { encodeName, toKey } from '../wire/name.ts';
import type { Asked } from '../wire/query.ts';
import type { Transport } from '../wire/response-size.ts';
import type { Edns, Header, NameKey, Question } from '../wire/types.ts';
import type { HandlerCount } from './handler-counts.ts';

/** Who asks, and how. */
export interface Client {
  readonly address: string;
  readonly port: number;
  readonly transport: Transport;
  /** Where the query arrived; undefined where it is not known: UDP on a wildcard address. */
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
  /** The listener group of the socket that the query came to. Default: 0. */
  readonly group?: number;
}

/** Parts of a query that a handler changes; others stay. */
export interface QueryChanges {
  readonly question?: Question;
  readonly header?: Header;
  readonly edns?: Edns | undefined;
}

/** What metrics and logs say of where a query arrived, under CoreDNS's names. */
export interface QuerySite {
  /** `dns://:53`, `dns://192.0.2.1:53`. */
  readonly server: string;
  /** The zone that was chosen for it, `example.org.`; `dropped` where there is none. */
  readonly zone: string;
  /** The view that was chosen; empty: none. */
  readonly view: string;
  /** Its size as it arrived, in octets. */
  readonly octets: number;
}

/** An answer that a cache gives for some time. */
export interface KeptAnswer {
  /** Milliseconds of the monotonic clock. */
  readonly until: number;
}

/** What the handlers that have seen a query so far make its answer depend on. */
export interface Dependence {
  readonly clientWasRead: boolean;
  readonly isDerived: boolean;
  readonly kept: KeptAnswer | undefined;
}

/** What a query and those that it leads to have in common. */
interface SharedState {
  clientWasRead: boolean;
  isDerived: boolean;
  kept: KeptAnswer | undefined;
  counts: readonly HandlerCount[];
  /** Queries for further names that handlers have made. */
  furtherQueries: number;
}

/** The header and the OPT record that the response repeats. */
export type RepeatedParts = Pick<Asked, 'header' | 'edns'> & {
  /** The EDNS options that are repeated beside those that every response repeats. Default: none. */
  readonly optionCodes?: ReadonlySet<number>;
};

/** Names that handlers look up for one query: more of them lead in a circle. */
const MAX_FURTHER_QUERIES = 32;

/** In place of a client: by TCP, so that nothing of an answer is left away. */
export const OURSELVES: Client = { address: '', port: 0, transport: 'tcp' };
const NO_SITE: QuerySite = { server: '', zone: '', view: '', octets: 0 };

export class Query {
  readonly question: Question;
  /** The question's name in lower case. */
  readonly key: NameKey;
  readonly recursionDesired: boolean;
  readonly checkingDisabled: boolean;
  readonly edns: Edns | undefined;
  readonly #asked: Asked;
  readonly #client: Client;
  readonly #site: QuerySite;
  readonly #mark: SharedState;
  readonly #response: { repeated: RepeatedParts; question: Question; answeredBy: string };
  /** How many other questions led to this one: aliases may lead in a circle. */
  readonly #depth: number;

  /**
   * @param origin the query that led to this one
   * @param hasOwnResponse whether what is repeated in the response of the origin is left as it is
   */
  constructor(
    question: Question,
    asked: Asked,
    client: Client,
    origin?: Query,
    site: QuerySite = NO_SITE,
    hasOwnResponse: boolean = origin === undefined,
  ) {
    this.question = question;
    this.key = toKey(question.name);
    this.recursionDesired = asked.header.recursionDesired;
    this.checkingDisabled = asked.header.checkingDisabled;
    this.edns = asked.edns;
    this.#client = client;
    this.#site = origin === undefined ? site : origin.#site;
    this.#mark =
      origin === undefined
        ? { clientWasRead: false, isDerived: true, kept: undefined, counts: [], furtherQueries: 0 }
        : origin.#mark;
    this.#response =
      hasOwnResponse || origin === undefined
        ? { repeated: asked, question, answeredBy: '' }
        : origin.#response;
    this.#asked = asked;
    this.#depth = origin === undefined ? 0 : origin.#depth + (origin.question === question ? 0 : 1);
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

  /** The client for logs and metrics: what the answer is must not depend on it. */
  get sender(): Client {
    return this.#client;
  }

  /** Whether a handler has looked at the client, for this question or one that it led to. */
  get clientWasRead(): boolean {
    return this.#mark.clientWasRead;
  }

  /** To be called by handlers whose answer depends on more than the plan and the publications. */
  forbidStoring(): void {
    this.#mark.isDerived = false;
  }

  /** Counts this query, and later those that are given its answer in place of the handlers. */
  count(count: HandlerCount): void {
    count.add(this.#site, 1);
    this.#mark.counts = [...this.#mark.counts, count];
  }

  /** What handlers have counted of this query and those that it led to. */
  get counts(): readonly HandlerCount[] {
    return this.#mark.counts;
  }

  /** Whether the answer depends on nothing but the plan and the publications, and may be stored with their epochs. */
  get isDerived(): boolean {
    return this.#mark.kept === undefined && this.#isForAll;
  }

  /** The answer that a cache keeps, where the answer of all handlers depends on nothing but that one and the plan. */
  get kept(): KeptAnswer | undefined {
    return this.#isForAll ? this.#mark.kept : undefined;
  }

  get #isForAll(): boolean {
    return this.#mark.isDerived && !this.#mark.clientWasRead && (this.edns?.options.length ?? 0) === 0;
  }

  /** To be noted by a cache when the query comes to it. */
  get dependence(): Dependence {
    const { clientWasRead, isDerived, kept } = this.#mark;
    return { clientWasRead, isDerived, kept };
  }

  /**
   * The answer is one that a cache keeps, so what the handlers behind that cache have read does not matter.
   *
   * @param before what it depended on when the query came to the cache
   */
  answeredFromCache(before: Dependence, kept: KeptAnswer): void {
    const until = Math.min(kept.until, before.kept?.until ?? kept.until);
    Object.assign(this.#mark, before, { kept: { ...kept, until } });
  }

  /** The header as this query has it. */
  get header(): Header {
    return this.#asked.header;
  }

  /** For metrics and logs alone. */
  get site(): QuerySite {
    return this.#site;
  }

  /** The same query about something else. */
  about(question: Question): Query {
    return this.with({ question });
  }

  /** How many other questions led to this one. */
  get depth(): number {
    return this.#depth;
  }

  /** The same query with other parts, for the handlers behind. Its response repeats the parts of the first one. */
  with({ question = this.question, ...changes }: QueryChanges): Query {
    return new Query(question, { ...this.#asked, question, ...changes }, this.#client, this);
  }

  /** The same query as we ask it ourselves: by TCP, so that nothing of the answer is left away. */
  forOurselves(): Query {
    return new Query(this.question, this.#asked, OURSELVES, undefined, this.#site);
  }

  /**
   * The query for another name that the answer needs, with a response of its own; nothing where so many were made for the client's
   * query that they must lead in a circle.
   */
  furtherQuery(question: Question): Query | undefined {
    if (this.#mark.furtherQueries >= MAX_FURTHER_QUERIES) return undefined;
    this.#mark.furtherQueries += 1;
    return new Query(question, { ...this.#asked, question }, this.#client, this, this.#site, true);
  }

  /** Has the response repeat other parts: flags of the header, and the OPT record with its UDP size and options. */
  repeat(changes: Partial<RepeatedParts>): void {
    this.#response.repeated = { ...this.#response.repeated, ...changes };
  }

  /** Says which question the handlers behind see in place of that of the client, for logs and metrics. */
  noteRewritten(question: Question): void {
    this.#response.question = question;
  }

  /** Says which handler has the query now: the last one that had it has answered it. Empty: none did. */
  noteHandler(name: string): void {
    this.#response.answeredBy = name;
  }

  /** The name of the handler that answered, for metrics. */
  get answeredBy(): string {
    return this.#response.answeredBy;
  }

  /** The question as handlers have rewritten it: errors are logged with it, as in CoreDNS. */
  get rewrittenQuestion(): Question {
    return this.#response.question;
  }

  /** The length of the query with the name that handlers have put in, as CoreDNS logs and counts it. */
  get octets(): number {
    const { question } = this.#response;
    const grown = question.name === this.question.name ? 0 : lengthOf(question) - lengthOf(this.question);
    return this.#site.octets + grown;
  }

  /** What the response repeats. */
  get repeated(): RepeatedParts {
    return this.#response.repeated;
  }
}

function lengthOf({ name }: Question): number {
  return encodeName(name).length;
}
