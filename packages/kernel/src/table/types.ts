/**
 * The input and output of the answer table: finished answers as bytes.
 *
 * The table knows names in wire form, numbers and bytes, but not Kubernetes, sockets or record sets.
 */
import type { AddressRange } from '@portolan/dns/address-range.ts';
import type { Brand } from '@portolan/dns/brand.ts';
import type { PassedErrors } from '@portolan/dns/extended-error.ts';
import type { WireName } from '@portolan/dns/types.ts';
import type { StoredForm } from '@portolan/plugin';

/** The number of a publication, from one source: the cluster's zone, hosts files, a zone file. 16 bits. */
export type PublicationId = Brand<number, 'PublicationId'>;

/** The number of one of our zones inside the table, 16 bits. A zone belongs to one publication. */
export type ZoneId = Brand<number, 'ZoneId'>;

/** The number of a view: the data that one client sees. 16 bits. */
export type ViewId = Brand<number, 'ViewId'>;

/** The publication and the view that every table has. */
export const DEFAULT_PUBLICATION = 0 as PublicationId;
export const DEFAULT_VIEW = 0 as ViewId;

/** The numbers that each outcome of a view takes: UDP over IPv4, UDP over IPv6, TCP over IPv4, TCP over IPv6. */
export const VIEW_PATHS = 4;
/** Each publication of such a view has two outcomes: for answers with records, and for denials of a name or a type. */
export const NODE_OUTCOMES = 2;

/**
 * Kinds of answers that were searched for. Each has an outcome for every number of names tried before, from 1 to
 * `MAX_SEARCHED`. `missing`: none of the names exists.
 */
export const SEARCH_OUTCOME = {
  records: 0,
  denial: 1,
  cachedRecords: 2,
  cachedDenial: 3,
  missing: 4,
} as const;
export const SEARCH_OUTCOMES = 5;
/** Names of a search list, that of the question not counted. */
export const MAX_SEARCHED = 6;

/** Outcomes of a view's answers; they replace those of nodes and cached answers. `claimOutcomes` makes the counters. */
export interface ViewOutcomes {
  /** The first number for its nodes, from 1: `NODE_OUTCOMES` per publication, in the order of look-up, each of `VIEW_PATHS` numbers. */
  readonly nodes: number;
  /** The first number for its cached answers. Those with outcome n count at this number plus n times `VIEW_PATHS`. */
  readonly cached: number;
  /** The first number for answers found by a search: see `SEARCH_OUTCOME`. Undefined: the view does not search. */
  readonly searched?: number;
}

/** A run of records of one length inside an answer section, which a reader may start anywhere in (A and AAAA sets). */
export interface Rotation {
  /** Where the run begins, in octets from the start of `AnswerBody.bytes`. */
  readonly start: number;
  /** The length of one record, in octets. */
  readonly stride: number;
  readonly count: number;
}

/**
 * The part of a response after its question: all records in wire form, without OPT. Its compression pointers are right
 * for a question of the owner's length at offset 12.
 */
export interface AnswerBody {
  /** The lower four bits of the response code (an OPT-borne extension is never stored). */
  readonly rcode: number;
  readonly authoritative: boolean;
  /** Whether the records are validated (AD): reported to clients that ask for it (RFC 6840 section 5.8). Default: no. */
  readonly authenticData?: boolean;
  /** Whether the source of the records has lost them. Default: no. */
  readonly isStale?: boolean;
  readonly answerCount: number;
  readonly authorityCount: number;
  readonly additionalCount: number;
  readonly bytes: Uint8Array;
  readonly rotation: Rotation | undefined;
}

/** How to answer a missing name below this node, if this node is its closest encloser (RFC 4592 section 3.3.1). */
export type Below =
  | { readonly kind: 'complete' }
  /** Ask the handler chain for names exactly `labels` below (1 to 255), or any number below for 0; others are missing. */
  | { readonly kind: 'ask'; readonly labels: number };

/** All answers of one owner name of our zones. Immutable; each change makes a new node. */
export interface NameNode {
  /** Lower case, uncompressed. */
  readonly name: WireName;
  readonly zone: ZoneId;
  readonly below: Below;
  /**
   * How to answer a type that is not among `answers`: NODATA, ask the chain, or continue with the view's next publication.
   */
  readonly otherTypes: 'nodata' | 'ask' | 'next';
  /** The outcome, 16 bits: the counters that an answer adds to. */
  readonly outcome: number;
  readonly answers: ReadonlyMap<number, AnswerBody>;
}

/** How a zone denies names, and whether it may. */
export interface ZoneSettings {
  /** The zone's apex, lower case. All names of the zone's nodes lie within it. */
  readonly apex: WireName;
  /**
   * While false, only stored answers are given. NODATA, NXDOMAIN and questions for the chain become SERVFAIL, since the
   * objects that the zone is made from are not listed yet.
   */
  readonly known: boolean;
  /** The SOA record of negative answers: its data with uncompressed names, and the TTL to show (RFC 2308 section 5). */
  readonly soaData: Uint8Array;
  readonly negativeTtl: number;
  /** Whether NXDOMAIN answers carry the AA bit. */
  readonly authoritativeNxdomain: boolean;
  /** Whether missing names with a label `*` or `any`, or with a slash in a label, go to the chain. */
  readonly askWildcards: boolean;
  /** Whether cached answers are given for types that the zone's nodes leave to the chain. */
  readonly cachesOpenTypes?: boolean;
  /**
   * How to answer a name without a node whose closest encloser is in this zone: NXDOMAIN, continue with the next
   * publication, or ask the chain. Default: `deny`.
   */
  readonly missing?: 'deny' | 'next' | 'ask';
  /**
   * How to answer a question for ANY within the zone: ask the chain, one HINFO record where the name exists (RFC 8482
   * section 4.2), or REFUSED. Default: `ask`.
   */
  readonly any?: 'ask' | 'minimal' | 'refused';
}

/** Questions that go to the handler chain before any node is looked up. */
export interface AskRule {
  /** Suffixes include the name itself; `any` is every name. Lower case, uncompressed. */
  readonly name: { readonly kind: 'exact' | 'suffix'; readonly name: WireName } | { readonly kind: 'any' };
  readonly types: 'all' | ReadonlySet<number>;
  /**
   * If given, only queries with one of these EDNS options match, and a cached answer never replaces that of the chain.
   * All other rules permit the view's cached answers.
   */
  readonly ednsOptions?: ReadonlySet<number>;
  /** Whether the handler comes before the cache of its block: then only cached answers of that place replace its own. Default: no. */
  readonly beforeCache?: boolean;
  /** Whether only cached answers for the family of the client's address replace that of the handler. Default: no. */
  readonly byFamily?: boolean;
  /** Whether only queries with DO. Default: all queries. */
  readonly dnssecOk?: boolean;
  /** Whether no cached answer replaces that of the chain. Default: they do. */
  readonly always?: boolean;
  /** Whether only names that the publications of the view lack or deny. Default: all names. */
  readonly ifMissing?: boolean;
}

/** Instead of a route number: the chain answers. */
export const NO_ROUTE = 0;

/** The data that one client sees. */
export interface ViewSettings {
  /** In the order of look-up. */
  readonly publications: readonly PublicationId[];
  readonly askRules: readonly AskRule[];
  /** Whether answers from nodes carry the RA bit. */
  readonly recursionAvailable: boolean;
  /** Whether answers with several addresses start at a random one; if not, they keep the stored order. */
  readonly rotatesAddresses: boolean;
  /**
   * How to answer questions of classes other than IN, and for types that no record has: ask the chain, or an error code
   * at once; `refused-but-chaos` leaves class CHAOS to the chain. Default: `ask`.
   */
  readonly otherQuestions?: 'ask' | 'refused' | 'refused-but-chaos';
  /**
   * Whether responses repeat the UDP size of the client's OPT record, and the options that CoreDNS repeats. Responses that lack
   * room for more than answers then go to the chain. Default: responses carry our own size, and no options.
   */
  readonly repeatsOpt?: boolean;
  /** Whether queries with EDNS options go to the chain. Default: only those that an ask rule names. */
  readonly asksWithOptions?: boolean;
  /** Whether clients get any UDP size that they offer; where a reader has less room, the chain answers. Default: no. */
  readonly givesOfferedSize?: boolean;
  readonly outcomes?: ViewOutcomes;
  /** Cap on the UDP size of clients, in octets. Default: unbounded. */
  readonly maxUdpSize?: number | undefined;
  /** Where readers may forward questions that the view leaves open. Default: `NO_ROUTE`. */
  readonly route?: number;
  /** Whether responses carry extended errors (RFC 8914). Default: no. */
  readonly sendsExtendedErrors?: boolean;
  /** The publication with the search lists of clients; readers search for names that ask rules leave to the chain if missing. */
  readonly searchLists?: PublicationId;
  /** The outcomes of refused questions, 16 bits each. Default: 0. */
  readonly refusalOutcomes?: { readonly chaos: number; readonly others: number };
}

/** The initial settings of the view that every table has. */
export const DEFAULT_VIEW_SETTINGS: ViewSettings = {
  publications: [DEFAULT_PUBLICATION],
  askRules: [],
  recursionAvailable: false,
  rotatesAddresses: true,
};

/** How to answer the queries of some clients. */
export type ClientViews =
  /**
   * The view of the longest zone that contains the question's name answers. For DS it is the shortest zone but the
   * root. Names outside all zones get REFUSED.
   */
  | {
      readonly kind: 'views';
      readonly zones: readonly ZoneView[];
      /** Whether malformed packets, and packets without exactly one question, go to the chain. Default: no. */
      readonly asksOdd?: boolean;
    }
  /** REFUSED; no response; the handler chain decides. */
  | { readonly kind: 'refused' | 'dropped' | 'asked' };

export interface ZoneView {
  /** Lower case, uncompressed. No two zones of a client are the same. */
  readonly zone: WireName;
  readonly view: ViewId;
}

/** The views of one listener group, by client. Clients with the same value share its memory. */
export interface ListenerGroupViews {
  /** The longest range that holds an address wins; among equal ones the last. */
  readonly prefixes: readonly { readonly range: AddressRange; readonly views: ClientViews }[];
  readonly others: ClientViews;
}

/** The key of a cached answer. */
export interface CachedQuestion {
  /** Lower case, uncompressed. */
  readonly name: WireName;
  readonly type: number;
  readonly class: number;
  readonly dnssecOk: boolean;
  readonly checkingDisabled: boolean;
  /** Whether the answer was changed by the handlers before the cache of a block. Default: no. */
  readonly beforeCache?: boolean;
  /** Whether the answer is only for clients over IPv6. Default: no. */
  readonly overIpv6?: boolean;
}

/**
 * The sources of a derived answer, as they were when its query came to the handler chain. The answer is valid only
 * while they are unchanged.
 */
export interface AnswerSources {
  /** The epoch of the plan. */
  readonly plan: number;
  /** At most two. */
  readonly publications: readonly { readonly id: PublicationId; readonly epoch: number }[];
}

/** One answer that expires. */
export interface CachedAnswer extends CachedQuestion, StoredForm {
  /** Only for a derived answer. Default: the answer is valid until it expires. */
  readonly sources?: AnswerSources;
  readonly recursionAvailable: boolean;
  readonly body: AnswerBody;
  /** Offsets of the TTL fields inside `body.bytes`, counted down as time passes. */
  readonly ttlOffsets: readonly number[];
  /** Seconds until it expires, from 1. */
  readonly lifetime: number;
  /** When its TTL ended (RFC 8767), or from when on it is held, in seconds of the same clock. Default: the end of its lifetime. */
  readonly freshUntil?: number;
  /** Whether only the chain may give it from `freshUntil` on. Default: readers give it until it expires. */
  readonly isHeldOnceStale?: boolean;
  readonly outcome: number;
  /** Sent to clients with EDNS. Default: none. */
  readonly passedErrors?: PassedErrors | undefined;
}

/** A stored cached answer, expired or not. Never a derived one: see `AnswerCache`. */
export interface CachedEntry extends Omit<CachedAnswer, 'sources'> {
  /** The view that the answer belongs to. */
  readonly view: ViewId;
  /** Seconds of the monotonic clock that all threads share. */
  readonly stored: number;
  /** The same in milliseconds, to 8 ms; of an entry that a reader has made, to a second. */
  readonly storedAt: number;
  readonly expires: number;
  readonly freshUntil: number;
  /** Whether a reader used it since it was stored, and since eviction last passed it. */
  readonly used: boolean;
}

/** A reader's verdict on a packet without a response. A positive number is the length of a response. */
export const VERDICT = {
  /** Send no response (the packet is a response, or too short to answer). */
  DROP: 0,
  /** The handler chain must answer. */
  ASK: -1,
} as const;

/** The names that only the clients of a network see, before those of all clients. */
export interface LocalisedPublication {
  readonly network: AddressRange;
  readonly publication: PublicationId;
}
