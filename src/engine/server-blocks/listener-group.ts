/**
 * Chooses the server block that answers a query: all sockets of one group answer alike.
 *
 * The longest zone that contains the name wins; of several blocks for it, the first that accepts the query. If none accepts, the
 * parent zone is tried, up to the root. A question for DS is for the parent: the shortest zone wins, the root only without any
 * other.
 */
import type { Log } from '../../base/log.ts';
import type { WholeAnswer } from '../../chain/answer.ts';
import type { Chain } from '../../chain/handler.ts';
import { type Client, Query, type QuerySite } from '../../chain/query.ts';
import { EMPTY_ANSWER } from '../../chain/whole-answer.ts';
import type { HandleQuery } from '../../listen/types.ts';
import { parentOf, ROOT } from '../../wire/name.ts';
import type { Asked, Query as ParsedQuery } from '../../wire/query.ts';
import { CLASS, type NameKey, RCODE } from '../../wire/types.ts';
import { acceptQuery } from './accept-query.ts';
import { encodeAnswer } from './response.ts';

const TYPE_DS = 43;
const DROPPED = 'dropped';

/** A zone of a block, as the group sees it. */
export interface Site {
  readonly zone: NameKey;
  readonly chain: Chain;
  /** Whether the block is for this query; without a view it is for all. */
  accepts(query: Query): boolean;
}

export interface ListenerGroupOptions {
  /** Its name in metrics: `dns://:53`. */
  readonly server: string;
  /** In the order of the file. */
  readonly sites: readonly Site[];
  /** Whether classes other than IN reach the blocks; otherwise they are refused. */
  readonly servesOtherClasses: boolean;
  /** Called for queries that no block accepts. @param octets of the refusal */
  readonly onDropped?: ((query: Query, octets: number) => void) | undefined;
  /** Called on internal errors; the client gets SERVFAIL. */
  readonly onPanic?: () => void;
  readonly log: Log;
}

export class ListenerGroup {
  readonly #options: ListenerGroupOptions;
  readonly #sites: ReadonlyMap<NameKey, readonly Site[]>;

  constructor(options: ListenerGroupOptions) {
    this.#options = options;
    const sites = new Map<NameKey, Site[]>();
    for (const site of options.sites) sites.set(site.zone, [...(sites.get(site.zone) ?? []), site]);
    this.#sites = sites;
  }

  readonly handleQuery: HandleQuery = async (packet, client) => {
    const parsed = acceptQuery(packet);
    if (parsed.kind === 'drop') return undefined;
    if (parsed.kind === 'error')
      return encodeRejection({ ...parsed, question: undefined }, parsed.rcode, client);
    return await this.#answer(parsed, client, packet.length);
  };

  /** The chain of the block for a query that another one led to; undefined: no block accepts it. */
  chainFor(query: Query): Chain | undefined {
    return this.#choose(query)?.chain;
  }

  async #answer(asked: ParsedQuery, client: Client, octets: number): Promise<Uint8Array | undefined> {
    const query = this.#makeQuery(asked, client, DROPPED, octets);
    const mayServe = this.#mayServe(asked);
    if (mayServe && (asked.edns?.version ?? 0) > 0) return encodeRejection(asked, RCODE.BADVERS, client);
    const site = mayServe ? this.#choose(query) : undefined;
    if (site === undefined) {
      const refusal = encodeAnswer(asked, query.repeated, { kind: 'refused' }, client);
      this.#options.onDropped?.(query, refusal.length);
      return refusal;
    }
    const own = this.#makeQuery(asked, client, site.zone, octets);
    try {
      const answer = await site.chain(own);
      if (answer.kind === 'drop') return undefined;
      return encodeAnswer(asked, own.repeated, answer, client);
    } catch (error) {
      const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
      const { name, type } = asked.question;
      this.#options.onPanic?.();
      this.#options.log.error('internal error', { name, type, reason });
      return encodeAnswer(asked, own.repeated, { kind: 'servfail' }, client);
    }
  }

  #makeQuery(asked: ParsedQuery, client: Client, zone: string, octets: number): Query {
    const site: QuerySite = { server: this.#options.server, zone, view: '', octets };
    return new Query(asked.question, asked, client, undefined, site);
  }

  #mayServe({ question }: ParsedQuery): boolean {
    return question.class === CLASS.IN || this.#options.servesOtherClasses;
  }

  #choose(query: Query): Site | undefined {
    const isForParent = query.question.type === TYPE_DS;
    let found: Site | undefined;
    for (let name: NameKey | undefined = query.key; name !== undefined; name = parentOf(name)) {
      if (name === ROOT && found !== undefined) return found;
      const site = this.#sites.get(name)?.find((candidate) => candidate.accepts(query));
      if (site === undefined) continue;
      if (!isForParent || name === ROOT) return site;
      found = site;
    }
    return found;
  }
}

/** Only a response code, without the client's OPT record. */
function encodeRejection(asked: Asked, rcode: number, client: Client): Uint8Array {
  return encodeAnswer(asked, { header: asked.header, edns: undefined }, rejection(rcode), client);
}

function rejection(rcode: number): WholeAnswer {
  if (rcode !== RCODE.BADVERS) return { ...EMPTY_ANSWER, rcode };
  return { ...EMPTY_ANSWER, rcode, edns: { udpSize: 0, dnssecOk: false, options: [] } };
}
