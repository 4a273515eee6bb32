/**
 * One question on the slow path, as handlers see it.
 */
import { HEADER_OCTETS } from '@portolan/dns/header.ts';
import { encodeName, toKey } from '@portolan/dns/name.ts';
import type { Asked } from '@portolan/dns/query.ts';
import { OPT_OCTETS } from '@portolan/dns/query-records.ts';
import { MAX_MESSAGE_OCTETS, maxResponseOctets } from '@portolan/dns/response-size.ts';
import type { Signature } from '@portolan/dns/tsig.ts';
import type { Edns, Header, NameKey, Question, ResourceRecord } from '@portolan/dns/types.ts';
import type { Client as PluginClient, Query as PluginQuery, QueryChanges, QuerySite } from '@portolan/plugin';
import type { QuestionKey } from '../forward/question-key.ts';
import type { DryRun } from './dry-run.ts';
import type { HandlerCount } from './handler-counts.ts';

export type { QueryChanges, QuerySite } from '@portolan/plugin';

/** The sender of a query, and its transport. */
export interface Client extends PluginClient {
  /** The listener group of the socket that the query came to. Default: 0. */
  readonly group?: number;
  /**
   * Sends a response before the last one, as transfers need (RFC 5936 section 2.2). Undefined: a query has one response here.
   *
   * @returns whether the client still takes responses, as soon as it has room for the next one
   */
  readonly send?: (response: Uint8Array) => Promise<boolean>;
  /** Collects what handlers find, and keeps them from asking, counting and logging. Default: an ordinary query. */
  readonly look?: DryRun;
}

/** Answers a packet that the table cannot answer: no longer than the client takes; undefined: send none. Never throws. */
export type HandleQuery = (packet: Uint8Array, client: Client) => Promise<Uint8Array | undefined>;

/** The signature of a query. `none`: it has none, or it is our own. */
export type QuerySignature = Signature | 'none' | 'malformed';

/** Signs the messages of a response in their order. */
export interface MessageSigner {
  /** The octets that a signature takes at most. */
  readonly octets: number;
  sign(message: Uint8Array): Uint8Array;
}

/** Our own queries have no records. */
type AskedByClient = Asked & {
  readonly answers?: readonly ResourceRecord[];
  readonly authorities?: readonly ResourceRecord[];
  readonly signature?: QuerySignature;
};

/** A span of a trace: where a part of a query's time goes. */
export interface TraceSpan {
  /** Begins a span within this one. @param name of the handler, or of what it waits for */
  startChild(name: string): TraceSpan;
  setTag(name: string, value: string): void;
  end(): void;
}

/** An answer that a cache keeps for some time. */
export interface KeptAnswer {
  /** Milliseconds of the monotonic clock. */
  readonly until: number;
}

/** Dependencies of the answer, as noted by the handlers that have seen the query so far. */
export interface Dependence {
  readonly clientWasRead: boolean;
  readonly isDerived: boolean;
  readonly kept: KeptAnswer | undefined;
}

/** Knows facts about queries that no handler has to note. */
export interface FactSource {
  /** Undefined: it does not know it. @param label `kubernetes/client-namespace` */
  fact(query: Query, label: string): string | undefined;
}

/** Facts by their labels. */
interface Metadata {
  readonly noted: Map<string, string>;
  readonly sources: readonly FactSource[];
  /** The query that the sources describe. */
  readonly query: Query;
}

/** State shared by a query and the queries that it leads to. */
interface SharedState {
  clientWasRead: boolean;
  familyWasRead: boolean;
  isDerived: boolean;
  keepsLetters: boolean;
  mayBeCached: boolean;
  kept: KeptAnswer | undefined;
  isPartlyKept: boolean;
  /** Whether the flags of the parts of the answer do not matter, and whether some of these are those of a first answer of a cache. */
  isComposed: boolean;
  hasFirstFlags: boolean;
  counts: readonly HandlerCount[];
  /** Undefined: facts are not collected. */
  metadata: Metadata | undefined;
  /** Queries for further names that handlers have made. */
  furtherQueries: number;
}

/** The header and the OPT record that the response repeats. */
export type RepeatedParts = Pick<Asked, 'header' | 'edns'> & {
  /** EDNS options to repeat in addition to those that every response repeats. Default: none. */
  readonly optionCodes?: ReadonlySet<number>;
};

/** Maximum number of names that handlers look up for one query: beyond it, the names form a loop. */
const MAX_FURTHER_QUERIES = 32;

/** The client of our own queries: over TCP, so that answers are not truncated. */
export const OURSELVES: Client = { address: '', port: 0, transport: 'tcp' };
const NO_SITE: QuerySite = { server: '', zone: '', view: '', octets: 0 };

const NEW_STATE: SharedState = {
  clientWasRead: false,
  familyWasRead: false,
  isDerived: true,
  kept: undefined,
  counts: [],
  isPartlyKept: false,
  isComposed: false,
  hasFirstFlags: false,
  keepsLetters: false,
  mayBeCached: true,
  metadata: undefined,
  furtherQueries: 0,
};

/** The type and the class of a question, after its name. */
const QUESTION_FIXED_OCTETS = 4;

/** Plugins see `PluginQuery`; the parts around the chain see all of it. */
export class Query implements PluginQuery {
  readonly question: Question;
  /** The question's name in lower case. */
  readonly key: NameKey;
  readonly recursionDesired: boolean;
  readonly checkingDisabled: boolean;
  readonly edns: Edns | undefined;
  /** The span of the handler that has the query; undefined: it is not traced. */
  span: TraceSpan | undefined;
  readonly #asked: AskedByClient;
  readonly #client: Client;
  readonly #site: QuerySite;
  readonly #mark: SharedState;
  readonly #response: {
    repeated: RepeatedParts;
    question: Question;
    answeredBy: string;
    /** The handler that answers the same question later; undefined: the same one. */
    answersLater?: string;
    signer?: MessageSigner;
  };
  /** Number of other questions that led to this one: aliases may form a loop. */
  readonly #depth: number;

  /**
   * @param origin the query that led to this one
   * @param hasOwnResponse whether `repeat` on this query leaves the response of the origin unchanged
   */
  constructor(
    question: Question,
    asked: AskedByClient,
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
    this.span = origin?.span;
    this.#client = client;
    this.#site = origin === undefined ? site : origin.#site;
    this.#mark = origin === undefined ? { ...NEW_STATE, isDerived: client.look === undefined } : origin.#mark;
    this.#response =
      hasOwnResponse || origin === undefined
        ? { repeated: asked, question, answeredBy: '' }
        : origin.#response;
    this.#asked = asked;
    this.#depth = origin === undefined ? 0 : origin.#depth + (origin.question === question ? 0 : 1);
  }

  /** Queries with equal keys ask the same question. */
  get questionKey(): QuestionKey {
    const { type, class: dnsClass } = this.question;
    const { checkingDisabled, recursionDesired } = this;
    const dnssecOk = this.edns?.dnssecOk ?? false;
    return { name: this.key, type, class: dnsClass, dnssecOk, checkingDisabled, recursionDesired };
  }

  /** The client, for an answer that depends on it: from now on no reader repeats the answer. A cache in front keeps it, as in CoreDNS. */
  dependOnClient(): Client {
    this.#mark.clientWasRead = true;
    return this.#client;
  }

  /** Client to charge for this query (admission). Answers must not depend on it. */
  get account(): string {
    return this.#client.address;
  }

  /** The client, for logs and metrics. Answers must not depend on it. */
  get sender(): Client {
    return this.#client;
  }

  /**
   * The octets that the records of the response can have, for an answer that is truncated if it does not fit. For other questions that
   * this query led to, and over streams, there is no bound.
   *
   * @param maxUdpSize the server's own maximum for UDP
   */
  roomFor(maxUdpSize: number): number {
    if (this.#depth > 0 || this.#client.transport !== 'udp') return MAX_MESSAGE_OCTETS;
    const { edns } = this.repeated;
    const question = encodeName(this.key).length + QUESTION_FIXED_OCTETS;
    const overhead = HEADER_OCTETS + question + (edns === undefined ? 0 : OPT_OCTETS);
    return maxResponseOctets('udp', edns?.udpSize ?? 0, maxUdpSize) - overhead;
  }

  /** Undefined: an ordinary query. */
  get look(): DryRun | undefined {
    return this.#client.look;
  }

  /** Whether a handler has called `dependOnClient`, for this question or one that it led to. */
  get clientWasRead(): boolean {
    return this.#mark.clientWasRead;
  }

  /**
   * Over what it came; IPv4 to a socket of IPv6 is `ipv4`. Only for questions that a handler states by family: from now on a stored
   * answer is only for clients of the same family.
   */
  dependOnFamily(): 'ipv4' | 'ipv6' {
    this.#mark.familyWasRead = true;
    return isOverIpv6(this.#client) ? 'ipv6' : 'ipv4';
  }

  /** Whether a stored answer is only for clients over IPv6. */
  get isOnlyForIpv6(): boolean {
    return this.#mark.familyWasRead && isOverIpv6(this.#client);
  }

  /** For handlers whose answer depends on more than the plan and the publications. */
  forbidStoring(): void {
    this.#mark.isDerived = false;
  }

  /** For handlers whose answer is only for clients in the place of this one: no cache keeps it. */
  forbidCaching(): void {
    this.#mark.isDerived = false;
    this.#mark.mayBeCached = false;
  }

  get mayBeCached(): boolean {
    return this.#mark.mayBeCached;
  }

  /**
   * For handlers whose records have the letters of their source, such as a zone file: a stored answer then keeps them, whatever letters
   * the next client writes in the question.
   */
  keepLetters(): void {
    this.#mark.keepsLetters = true;
  }

  get keepsLetters(): boolean {
    return this.#mark.keepsLetters;
  }

  /** Counts this query now, and later each query that gets its stored answer. */
  count(count: HandlerCount): void {
    if (this.look !== undefined) return;
    count.add(this.#site, 1);
    this.#mark.counts = [...this.#mark.counts, count];
  }

  /** Counts by handlers of this query and those that it led to. */
  get counts(): readonly HandlerCount[] {
    return this.#mark.counts;
  }

  /** Whether the answer depends only on the plan and the publications, and may be stored with their epochs. */
  get isDerived(): boolean {
    return this.#mark.kept === undefined && this.#isForAll;
  }

  /** The cached answer, if the answer of all handlers depends only on it and the plan. */
  get kept(): KeptAnswer | undefined {
    return this.#isForAll ? this.#mark.kept : undefined;
  }

  /**
   * For a cache that keeps nothing of an answer of the handlers behind it. It answers the same as long as they do; if other parts of the
   * answer are kept, it also depends on the plan and the publications.
   */
  keptNothing(): void {
    this.#mark.isPartlyKept = true;
  }

  /**
   * For handlers before a cache that make an answer of others and give it flags of its own. The flags of a first answer of the cache, which
   * differ from those of later ones, then do not matter. Call `endComposition` once the answer is made.
   */
  beginComposition(): void {
    this.#mark.isComposed = true;
  }

  /** @param isOwn whether the answer has flags of its own; otherwise it has those of the answers that it was to be made of */
  endComposition(isOwn: boolean): void {
    if (!isOwn && this.#mark.hasFirstFlags) this.forbidStoring();
    this.#mark.isComposed = false;
    this.#mark.hasFirstFlags = false;
  }

  /** Whether a cache may note its first answer by `answeredFirst`. */
  get isComposed(): boolean {
    return this.#mark.isComposed;
  }

  /**
   * Notes that a cache keeps from now on what it answers.
   *
   * @param cache its name: it answers those that get the stored answer
   * @param miss counted for this query, in place of which `hit` counts for them
   */
  answeredFirst(
    before: Dependence,
    kept: KeptAnswer,
    cache: string,
    [miss, hit]: readonly [HandlerCount, HandlerCount],
  ): void {
    this.answeredFromCache(before, kept);
    this.#mark.hasFirstFlags = true;
    this.#response.answersLater = cache;
    const { counts } = this.#mark;
    const place = counts.lastIndexOf(miss);
    // The counts after it are those of handlers behind the cache, which no later query reaches.
    if (place >= 0) this.#mark.counts = [...counts.slice(0, place), hit];
  }

  /** Whether a cache has kept nothing of a part of the answer. */
  get isPartlyKept(): boolean {
    return this.#mark.isPartlyKept;
  }

  get #isForAll(): boolean {
    return this.#mark.isDerived && !this.#mark.clientWasRead;
  }

  /** A cache reads it when the query arrives there, for `answeredFromCache`. */
  get dependence(): Dependence {
    const { clientWasRead, isDerived, kept } = this.#mark;
    return { clientWasRead, isDerived, kept };
  }

  /**
   * Notes that the answer comes from a cache: it does not depend on what the handlers behind that cache have read.
   *
   * @param before `dependence` when the query arrived at the cache
   */
  answeredFromCache(before: Dependence, kept: KeptAnswer): void {
    const until = Math.min(kept.until, before.kept?.until ?? kept.until);
    Object.assign(this.#mark, before, { kept: { ...kept, until } });
  }

  /** The header of this query. */
  get header(): Header {
    return this.#asked.header;
  }

  /** Records in the answer section of this query: NOTIFY may tell the new SOA record (RFC 1996 section 3.7). */
  get answers(): readonly ResourceRecord[] {
    return this.#asked.answers ?? [];
  }

  /** Records in the authority section of this query. */
  get authorities(): readonly ResourceRecord[] {
    return this.#asked.authorities ?? [];
  }

  /** The signature of this query. */
  get signature(): QuerySignature {
    return this.#asked.signature ?? 'none';
  }

  /** Has the response signed. */
  signWith(signer: MessageSigner): void {
    this.#response.signer = signer;
  }

  /** Undefined: the response is not signed. */
  get signer(): MessageSigner | undefined {
    return this.#response.signer;
  }

  /** From now on, keeps the facts that handlers note. @param sources of further facts about this query @param view of the block */
  collectMetadata(sources: readonly FactSource[] = [], view = this.#site.view): void {
    const noted = new Map(view === '' ? [] : [['view/name', view]]);
    this.#mark.metadata ??= { noted, sources, query: this };
  }

  /** The same query with facts of its own, for a block that may be chosen for it. @param view of the block */
  describedBy(sources: readonly FactSource[], view: string): Query {
    const query = new Query(this.question, this.#asked, this.#client, undefined, this.#site);
    query.collectMetadata(sources, view);
    return query;
  }

  get collectsMetadata(): boolean {
    return this.#mark.metadata !== undefined;
  }

  /** Notes a fact, if facts are collected. @param label `forward/upstream` */
  noteMetadata(label: string, text: string): void {
    this.#mark.metadata?.noted.set(label, text);
  }

  /** A fact by its label; undefined: no handler has noted it, and no source knows it. */
  metadata(label: string): string | undefined {
    const { metadata } = this.#mark;
    if (metadata === undefined) return undefined;
    const noted = metadata.noted.get(label);
    if (noted !== undefined) return noted;
    for (const source of metadata.sources) {
      const fact = source.fact(metadata.query, label);
      if (fact !== undefined) return fact;
    }
    return undefined;
  }

  /** Only for metrics and logs. */
  get site(): QuerySite {
    return this.#site;
  }

  /** The same query with another question. */
  about(question: Question): Query {
    return this.with({ question });
  }

  /** Number of other questions that led to this one. */
  get depth(): number {
    return this.#depth;
  }

  /** The same query with other parts, for the handlers behind. Its response repeats the parts of the first one. */
  with({ question = this.question, ...changes }: QueryChanges): Query {
    return new Query(question, { ...this.#asked, question, ...changes }, this.#client, this);
  }

  /** The same query as our own: over TCP, so that the answer is not truncated. */
  forOurselves(): Query {
    const { look } = this.#client;
    const client = look === undefined ? OURSELVES : { ...OURSELVES, look };
    return new Query(this.question, this.#asked, client, undefined, this.#site);
  }

  /**
   * A query for another name that the answer needs, with a response of its own. Undefined if the client's query has led to so
   * many that they must form a loop.
   */
  furtherQuery(question: Question): Query | undefined {
    if (this.#mark.furtherQueries >= MAX_FURTHER_QUERIES) return undefined;
    this.#mark.furtherQueries += 1;
    return new Query(question, { ...this.#asked, question }, this.#client, this, this.#site, true);
  }

  /** Changes the parts that the response repeats: flags of the header, and the OPT record with its UDP size and options. */
  repeat(changes: Partial<RepeatedParts>): void {
    this.#response.repeated = { ...this.#response.repeated, ...changes };
  }

  /** Notes the question that the handlers behind see in place of the client's, for logs and metrics. */
  noteRewritten(question: Question): void {
    this.#response.question = question;
  }

  /** Notes the handler that has the query now; the last one noted has answered it. Empty: no handler did. */
  noteHandler(name: string): void {
    this.#response.answeredBy = name;
  }

  /** The name of the handler that answered, for metrics. */
  get answeredBy(): string {
    return this.#response.answeredBy;
  }

  /** The name of the handler that answers those that get the stored answer. */
  get answersLater(): string {
    return this.#response.answersLater ?? this.#response.answeredBy;
  }

  /** The question as handlers have rewritten it: errors are logged with it, as in CoreDNS. */
  get rewrittenQuestion(): Question {
    return this.#response.question;
  }

  /** The length of the query with its rewritten name, as CoreDNS logs and counts it. */
  get octets(): number {
    const { question } = this.#response;
    const grown =
      question.name === this.question.name
        ? 0
        : computeNameLength(question) - computeNameLength(this.question);
    return this.#site.octets + grown;
  }

  /** The parts that the response repeats. */
  get repeated(): RepeatedParts {
    return this.#response.repeated;
  }
}

function computeNameLength({ name }: Question): number {
  return encodeName(name).length;
}

function isOverIpv6({ address }: Client): boolean {
  return address.includes(':') && !address.startsWith('::ffff:');
}
