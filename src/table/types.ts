/**
 * What goes into the answer table and what comes out of it: finished answers as bytes.
 *
 * The table knows names in wire form, numbers and bytes. It knows nothing of Kubernetes, sockets or record sets.
 */
import type { Brand } from '../base/brand.ts';
import type { AddressRange } from '../wire/address-range.ts';
import type { WireName } from '../wire/types.ts';

/** The number of what one source publishes: the cluster's zone, hosts files, a zone file. 16 bits. */
export type PublicationId = Brand<number, 'PublicationId'>;

/** The number of one of our zones inside the table, 16 bits. A zone belongs to one publication. */
export type ZoneId = Brand<number, 'ZoneId'>;

/** The number of what one client sees, 16 bits. */
export type ViewId = Brand<number, 'ViewId'>;

/** The publication and the view that every table has. */
export const DEFAULT_PUBLICATION = 0 as PublicationId;
export const DEFAULT_VIEW = 0 as ViewId;

/** Each outcome of a view is so many: over UDP and IPv4, UDP and IPv6, TCP and IPv4, TCP and IPv6. */
export const VIEW_PATHS = 4;
/** Each publication of such a view has two outcomes: for answers with records, and for denials of a name or a type. */
export const NODE_OUTCOMES = 2;

/** Outcomes of the answers of a view, in place of those that nodes and cached answers carry. Counters are made by `claimOutcomes`. */
export interface ViewOutcomes {
  /** The first one of its nodes, from 1: `NODE_OUTCOMES` for each publication, in the order of look-up, each `VIEW_PATHS` numbers. */
  readonly nodes: number;
  /** The first one of its cached answers: that of a cached answer with outcome n lies n times `VIEW_PATHS` behind. */
  readonly cached: number;
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
 * The part of a response behind its question: all records in wire form, OPT excluded, with compression pointers right
 * for a question of the owner's own length at offset 12.
 */
export interface AnswerBody {
  /** The lower four bits of the response code (an OPT-borne extension is never stored). */
  readonly rcode: number;
  readonly authoritative: boolean;
  /** Whether the records are validated (AD): told to clients that ask for it (RFC 6840 section 5.8). Default: no. */
  readonly authenticData?: boolean;
  readonly answerCount: number;
  readonly authorityCount: number;
  readonly additionalCount: number;
  readonly bytes: Uint8Array;
  readonly rotation: Rotation | undefined;
}

/** What a missing name below this node means, if this node is its closest encloser (RFC 4592 section 3.3.1). */
export type Below =
  | { readonly kind: 'complete' }
  /** Ask the handler chain for names exactly `labels` below (1 to 255), or any number below for 0; others are missing. */
  | { readonly kind: 'ask'; readonly labels: number };

/** All answers of one owner name of our zones. Immutable; a change is a new node. */
export interface NameNode {
  /** Lower case, uncompressed. */
  readonly name: WireName;
  readonly zone: ZoneId;
  readonly below: Below;
  /**
   * What a type that is not among `answers` means: there is none, the chain is asked, or the next publication of the view
   * is looked at.
   */
  readonly otherTypes: 'nodata' | 'ask' | 'next';
  /** The outcome, 16 bits: which counters an answer adds to. */
  readonly outcome: number;
  readonly answers: ReadonlyMap<number, AnswerBody>;
}

/** How a zone denies names, and whether it may. */
export interface ZoneSettings {
  /** The zone's apex, lower case. All names of the zone's nodes lie within it. */
  readonly apex: WireName;
  /**
   * While false, only stored answers are given: NODATA, NXDOMAIN and questions for the chain are SERVFAIL, since the
   * objects that the zone is made from are not listed yet.
   */
  readonly known: boolean;
  /** The SOA record of negative answers: its data with uncompressed names, and the TTL to show (RFC 2308 section 5). */
  readonly soaData: Uint8Array;
  readonly negativeTtl: number;
  /** Whether NXDOMAIN answers carry the AA bit. */
  readonly authoritativeNxdomain: boolean;
  /** Whether names with a label `*` or `any`, or with a slash in one, go to the chain when they are missing. */
  readonly askWildcards: boolean;
  /** Whether cached answers are given for types that the zone's nodes leave to the chain. */
  readonly cachesOpenTypes?: boolean;
  /**
   * What a name without a node means whose closest encloser belongs to this zone: NXDOMAIN, go on with the next
   * publication, or ask the chain. Default: `deny`.
   */
  readonly missing?: 'deny' | 'next' | 'ask';
  /**
   * What a question for ANY gets at names within the zone: the chain's answer, one HINFO record where the name exists
   * (RFC 8482 section 4.2), or REFUSED. Default: `ask`.
   */
  readonly any?: 'ask' | 'minimal' | 'refused';
}

/** Questions that go to the handler chain before any node is looked up. */
export interface AskRule {
  /** Suffixes include the name itself; `any` is every name. Lower case, uncompressed. */
  readonly name: { readonly kind: 'exact' | 'suffix'; readonly name: WireName } | { readonly kind: 'any' };
  readonly types: 'all' | ReadonlySet<number>;
  /**
   * If given, only queries with one of these EDNS options match, and a cached answer never stands for that of the chain.
   * All other rules let the view's cached answers be given.
   */
  readonly ednsOptions?: ReadonlySet<number>;
  /** Whether the handler stands before the cache of its block: only cached answers of the same place stand for it. Default: no. */
  readonly beforeCache?: boolean;
}

/** In place of the number of a route: the chain answers. */
export const NO_ROUTE = 0;

/** What one client sees. */
export interface ViewSettings {
  /** In the order of look-up. */
  readonly publications: readonly PublicationId[];
  readonly askRules: readonly AskRule[];
  /** Whether answers from nodes carry the RA bit. */
  readonly recursionAvailable: boolean;
  /** Whether answers with several addresses start anywhere; if not, they are given as stored. */
  readonly rotatesAddresses: boolean;
  /**
   * What questions for types that no record has, and of other classes than IN, get: the chain's answer, or an error code
   * at once; `refused-but-chaos` leaves class CHAOS to the chain. Default: `ask`.
   */
  readonly otherQuestions?: 'ask' | 'refused' | 'refused-but-chaos';
  /**
   * Whether responses repeat the UDP size of the client's OPT record, and those that do not fit are left to the chain, as are
   * queries with EDNS options. Default: they carry our own size, and are cut.
   */
  readonly repeatsOpt?: boolean;
  readonly outcomes?: ViewOutcomes;
  /** A larger UDP size of a client is taken for this one: octets. Default: any is taken. */
  readonly maxUdpSize?: number | undefined;
  /** Where readers may forward questions that the view leaves open. Default: `NO_ROUTE`. */
  readonly route?: number;
  /** The outcomes of those that are refused, 16 bits each. Default: 0. */
  readonly refusalOutcomes?: { readonly chaos: number; readonly others: number };
}

/** Those of the view that every table has, until they are changed. */
export const DEFAULT_VIEW_SETTINGS: ViewSettings = {
  publications: [DEFAULT_PUBLICATION],
  askRules: [],
  recursionAvailable: false,
  rotatesAddresses: true,
};

/** What is done with the queries of some clients. */
export type ClientViews =
  /**
   * The view of the longest zone that the name of the question is in answers, and for DS that of the shortest one but the
   * root. REFUSED where it is in none.
   */
  | {
      readonly kind: 'views';
      readonly zones: readonly ZoneView[];
      /** Whether packets that are no well-formed query of one question are left to the chain. Default: no. */
      readonly asksOdd?: boolean;
    }
  /** REFUSED; no response; the handler chain says what to do. */
  | { readonly kind: 'refused' | 'dropped' | 'asked' };

export interface ZoneView {
  /** Lower case, uncompressed. No two zones of a client are the same. */
  readonly zone: WireName;
  readonly view: ViewId;
}

/** What the clients of one listener group see. Clients with the same value share its memory. */
export interface ListenerGroupViews {
  /** Of several ranges that hold an address the longest counts, of equal ones the last. */
  readonly prefixes: readonly { readonly range: AddressRange; readonly views: ClientViews }[];
  readonly others: ClientViews;
}

/** What a cached answer is found by. */
export interface CachedQuestion {
  /** Lower case, uncompressed. */
  readonly name: WireName;
  readonly type: number;
  readonly class: number;
  readonly dnssecOk: boolean;
  readonly checkingDisabled: boolean;
  /** Whether it is what the handlers before the cache of a block have made of its answer. Default: no. */
  readonly beforeCache?: boolean;
}

/**
 * What a derived answer was made from, as it was when its query came to the handler chain. The answer is given only while
 * nothing of it has changed.
 */
export interface AnswerSources {
  /** The epoch of the plan. */
  readonly plan: number;
  /** At most two. */
  readonly publications: readonly { readonly id: PublicationId; readonly epoch: number }[];
}

/** A question about one name that is answered with the addresses of another, under its own name. */
export interface CachedRedirect extends CachedQuestion {
  /** Lower case, uncompressed. It is looked up in the publications of the view. */
  readonly target: WireName;
  /** Seconds until it expires, from 1. */
  readonly lifetime: number;
  readonly sources: AnswerSources;
  readonly outcome: number;
}

/** One answer that expires. */
export interface CachedAnswer extends CachedQuestion {
  /** Of a derived answer. Default: it stands for itself until it expires. */
  readonly sources?: AnswerSources;
  readonly recursionAvailable: boolean;
  readonly body: AnswerBody;
  /** Offsets of the TTL fields inside `body.bytes`, counted down as time passes. */
  readonly ttlOffsets: readonly number[];
  /** Seconds until it expires, from 1. */
  readonly lifetime: number;
  /** Of a stale answer (RFC 8767): when its TTL ended, in seconds of the same clock. Default: it ends with its lifetime. */
  readonly freshUntil?: number;
  readonly outcome: number;
}

/** A cached answer as it stands, expired or not. It is never a derived one: see `AnswerCache`. */
export interface CachedEntry extends Omit<CachedAnswer, 'sources'> {
  /** Whose answer it is. */
  readonly view: ViewId;
  /** Seconds of the monotonic clock that all threads share. */
  readonly stored: number;
  readonly expires: number;
  readonly freshUntil: number;
  /** Whether a reader used it lately: since it was stored, and since eviction last came by. */
  readonly used: boolean;
}

/** What a reader says of a packet when it has no response for it. A positive number is the length of a response. */
export const VERDICT = {
  /** Nothing is to be sent (a response, or too short to answer). */
  DROP: 0,
  /** The handler chain must answer. */
  ASK: -1,
} as const;
