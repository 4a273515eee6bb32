/**
 * Chooses the server block that answers a query: all sockets of one group answer alike.
 *
 * The longest zone that contains the name wins; of several blocks for it, the first that accepts the query. If none accepts, the
 * parent zone is tried, up to the root. A question for DS is for the parent: the shortest zone wins, the root only without any
 * other.
 */
import { EXTENDED_ERROR } from '@portolan/dns/extended-error.ts';
import { ROOT, toParent } from '@portolan/dns/name.ts';
import { type AnswerableQuery, type Asked, parseQuery, type RejectedQuery } from '@portolan/dns/query.ts';
import { readSignature } from '@portolan/dns/tsig.ts';
import { CLASS, type Edns, type Header, type NameKey, RCODE, TYPE } from '@portolan/dns/types.ts';
import { describeDefect } from '../../base/describe-error.ts';
import type { Log } from '../../base/log.ts';
import type { WholeAnswer } from '../../chain/answer.ts';
import { encodeAnswer, type SentAnswer } from '../../chain/encode-answer.ts';
import type { Chain } from '../../chain/handler.ts';
import {
  type Client,
  type HandleQuery,
  Query,
  type QuerySignature,
  type QuerySite,
} from '../../chain/query.ts';
import type { ResponseForm } from '../../chain/response-form.ts';
import { EMPTY_ANSWER } from '../../chain/whole-answer.ts';
import { acceptQuery } from './accept-query.ts';

const NO_BLOCK = { kind: 'refused', extendedError: EXTENDED_ERROR.NOT_AUTHORITATIVE } as const;
/** The site of queries outside all blocks. */
const OUTSIDE = { zone: 'dropped', view: '' };

type SignedQuery = AnswerableQuery & { readonly signature: QuerySignature };

/** A zone of a block, as the group sees it. */
export interface Site {
  readonly zone: NameKey;
  readonly chain: Chain;
  /** The name of the block's view; empty: none. */
  readonly view: string;
  /** Whether the block is for this query. Default: it is for all. */
  accepts?(query: Query): boolean;
}

/** A query outside all blocks. */
export interface DroppedQuery {
  readonly site: QuerySite;
  readonly client: Client;
  /** 0: it has no question. */
  readonly type: number;
  readonly edns: Edns | undefined;
  readonly rcode: number;
}

export interface ListenerGroupOptions {
  /** Its name in metrics: `dns://:53`. */
  readonly server: string;
  /** In the order of the file. */
  readonly sites: readonly Site[];
  /** Whether classes other than IN reach the blocks; otherwise they are refused. */
  readonly servesOtherClasses: boolean;
  readonly form: ResponseForm;
  /** Whether a client gets an answer. Default: each does. */
  readonly admits?: (client: Pick<Client, 'address'>) => boolean;
  /** Called for queries that no block accepts. @param octets of the answer */
  readonly onDropped?: ((query: DroppedQuery, octets: number) => void) | undefined;
  /** Called on internal errors; the client gets SERVFAIL. */
  readonly onPanic?: () => void;
  readonly log: Log;
}

export class ListenerGroup {
  readonly #options: ListenerGroupOptions;
  readonly #sites: ReadonlyMap<NameKey, readonly Site[]>;
  /** The site of all queries; undefined: it depends on the query. */
  readonly #only: Site | undefined;

  constructor(options: ListenerGroupOptions) {
    this.#options = options;
    const [first, ...more] = options.sites;
    const isOnly = more.length === 0 && first?.zone === ROOT && first.accepts === undefined;
    this.#only = isOnly ? first : undefined;
    const sites = new Map<NameKey, Site[]>();
    for (const site of options.sites) sites.set(site.zone, [...(sites.get(site.zone) ?? []), site]);
    this.#sites = sites;
  }

  /** Never throws. */
  readonly handleQuery: HandleQuery = async (packet, client) => {
    const { admits, log } = this.#options;
    try {
      if (admits?.(client) === false) return undefined;
      return await this.#answerPacket(packet, client);
    } catch (error) {
      // The code below does not throw on purpose. Other queries must still be served.
      log.error('packet not answered', { reason: String(error), client: client.address });
      return undefined;
    }
  };

  async #answerPacket(packet: Uint8Array, client: Client): Promise<Uint8Array | undefined> {
    const { acceptance } = this.#options.form;
    const parsed = acceptance === 'strict' ? parseQuery(packet) : acceptQuery(packet);
    if (parsed.kind === 'drop') return undefined;
    if (parsed.kind === 'empty') return this.#refuseEmpty(parsed.header, client, packet.length);
    if (parsed.kind === 'error') return this.#reject(parsed, client);
    const reading = readSignature(packet);
    const signature = reading.kind === 'signed' ? reading.signature : reading.kind;
    return await this.#answer({ ...parsed, signature }, client, packet.length);
  }

  /** The chain of the block for a query that another one led to; undefined: no block accepts it. */
  chainFor(query: Query): Chain | undefined {
    return this.#choose(query)?.chain;
  }

  /** The block for a query of a client; undefined: none accepts it. */
  siteFor(asked: AnswerableQuery, client: Client): Site | undefined {
    return this.#mayServe(asked) ? this.#findSite(asked, client, 0) : undefined;
  }

  /** The response to a malformed query. CoreDNS repeats nothing of it but its header. */
  #reject({ header, question, edns, rcode }: RejectedQuery, client: Client): Uint8Array {
    const isOwn = this.#options.form.opt.kind === 'own';
    const asked = { header, question: isOwn ? question : undefined, edns };
    return this.#encodeRejection(asked, rcode, client);
  }

  /** Only a response code, without the RA bit; the OPT record of the client is not repeated. */
  #encodeRejection(asked: Asked, rcode: number, client: Client): Uint8Array {
    const { form } = this.#options;
    const edns = form.opt.kind === 'own' ? asked.edns : undefined;
    const withoutFlags: ResponseForm = { ...form, recursionAvailable: false };
    return encodeAnswer(asked, { header: asked.header, edns }, rejection(rcode), client, withoutFlags);
  }

  /** Refuses a query outside all blocks. */
  #refuse(asked: SignedQuery, client: Client, octets: number): Uint8Array {
    const { form, server, onDropped } = this.#options;
    const refusal = encodeAnswer(asked, asked, NO_BLOCK, client, form);
    const { type } = asked.question;
    const site = { server, ...OUTSIDE, octets };
    const dropped = { site, client, type, edns: asked.edns, rcode: RCODE.REFUSED };
    if (client.look === undefined) onDropped?.(dropped, refusal.length);
    return refusal;
  }

  #refuseEmpty(header: Header, client: Client, octets: number): Uint8Array {
    const asked = { header, question: undefined, edns: undefined };
    const answer = this.#encodeRejection(asked, RCODE.SERVFAIL, client);
    const site = { server: this.#options.server, ...OUTSIDE, octets };
    const dropped = { site, client, type: 0, edns: undefined, rcode: RCODE.SERVFAIL };
    this.#options.onDropped?.(dropped, answer.length);
    return answer;
  }

  async #answer(asked: SignedQuery, client: Client, octets: number): Promise<Uint8Array | undefined> {
    const mayServe = this.#mayServe(asked);
    if (mayServe && (asked.edns?.version ?? 0) > 0)
      return this.#encodeRejection(asked, RCODE.BADVERS, client);
    const site = mayServe ? this.#findSite(asked, client, octets) : undefined;
    if (site === undefined) return this.#refuse(asked, client, octets);
    client.look?.choseBlock(site.zone);
    const own = this.#makeQuery(asked, client, site, octets);
    try {
      const answer = await site.chain(own);
      if (answer.kind === 'drop') return undefined;
      return await this.#encodeSeries(asked, own, answer, client);
    } catch (error) {
      const reason = describeDefect(error);
      const { name, type } = asked.question;
      this.#options.onPanic?.();
      this.#options.log.error('internal error', { name, type, reason });
      return encodeAnswer(asked, own.repeated, { kind: 'servfail' }, client, this.#options.form);
    }
  }

  /** Sends all responses but the last one. @returns the last one; undefined: the client takes no more */
  async #encodeSeries(
    asked: AnswerableQuery,
    { repeated, signer }: Query,
    answer: SentAnswer,
    client: Client,
  ): Promise<Uint8Array | undefined> {
    const { form } = this.#options;
    let response = encodeAnswer(asked, repeated, answer, client, form, signer);
    if (answer.kind !== 'message') return response;
    for (const answers of answer.following ?? []) {
      if ((await client.send?.(response)) !== true) return undefined;
      response = encodeAnswer(asked, repeated, { ...answer, answers }, client, form, signer);
    }
    return response;
  }

  #makeQuery(
    asked: AnswerableQuery,
    client: Client,
    { zone, view }: Pick<QuerySite, 'zone' | 'view'>,
    octets: number,
  ): Query {
    const site: QuerySite = { server: this.#options.server, zone, view, octets };
    return new Query(asked.question, asked, client, undefined, site);
  }

  #mayServe({ question }: AnswerableQuery): boolean {
    return question.class === CLASS.IN || this.#options.servesOtherClasses;
  }

  #findSite(asked: AnswerableQuery, client: Client, octets: number): Site | undefined {
    return this.#only ?? this.#choose(this.#makeQuery(asked, client, OUTSIDE, octets));
  }

  #choose(query: Query): Site | undefined {
    const isForParent = query.question.type === TYPE.DS;
    let found: Site | undefined;
    for (let name: NameKey | undefined = query.key; name !== undefined; name = toParent(name)) {
      if (name === ROOT && found !== undefined) return found;
      const site = this.#sites.get(name)?.find((candidate) => candidate.accepts?.(query) !== false);
      if (site === undefined) continue;
      if (!isForParent || name === ROOT) return site;
      found = site;
    }
    return found;
  }
}

function rejection(rcode: number): WholeAnswer {
  if (rcode !== RCODE.BADVERS) return { ...EMPTY_ANSWER, rcode };
  return { ...EMPTY_ANSWER, rcode, edns: { udpSize: 0, dnssecOk: false, options: [] } };
}
