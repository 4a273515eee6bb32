/**
 * What goes into the answer table and what comes out of it: finished answers as bytes.
 *
 * The table knows names in wire form, numbers and bytes. It knows nothing of Kubernetes, sockets or record sets.
 */
import type { Brand } from '../ground/brand.ts';
import type { WireName } from '../wire/types.ts';

/** The number of one of our zones inside the table, 1 to 63. */
export type ZoneId = Brand<number, 'ZoneId'>;

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
  readonly answerCount: number;
  readonly authorityCount: number;
  readonly additionalCount: number;
  readonly bytes: Uint8Array;
  readonly rotation: Rotation | undefined;
}

/** What a missing name below this node means, if this node is its closest encloser (RFC 4592 section 3.3.1). */
export type Below =
  | { readonly kind: 'complete' }
  /** Ask the handler chain for names exactly `labels` below (1 to 255), or any number below for 0; else NXDOMAIN. */
  | { readonly kind: 'ask'; readonly labels: number };

/** All answers of one owner name of our zones. Immutable; a change is a new node. */
export interface NameNode {
  /** Lower case, uncompressed. */
  readonly name: WireName;
  readonly zone: ZoneId;
  readonly below: Below;
  /** What a type that is not among `answers` means. */
  readonly otherTypes: 'nodata' | 'ask';
  /** 0 to 15: which counters an answer adds to. */
  readonly metricsId: number;
  readonly answers: ReadonlyMap<number, AnswerBody>;
}

/** How a zone says no, and whether it may say no at all. */
export interface ZoneTerms {
  /** The zone's apex, lower case. */
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
  /** Whether our own answers carry the RA bit. */
  readonly recursionAvailable: boolean;
  /** Whether names with a label `*` go to the chain when they are missing. */
  readonly askWildcards: boolean;
  /** Whether answers of others, for types that the zone's nodes leave open, are cached and told from there. */
  readonly cachesOpenTypes?: boolean;
}

/** What a cached answer is found by. */
export interface CachedQuestion {
  /** Lower case, uncompressed. */
  readonly name: WireName;
  readonly type: number;
  readonly class: number;
  readonly dnssecOk: boolean;
  readonly checkingDisabled: boolean;
}

/** One answer that expires. */
export interface CachedAnswer extends CachedQuestion {
  readonly recursionAvailable: boolean;
  readonly body: AnswerBody;
  /** Offsets of the TTL fields inside `body.bytes`, counted down as time passes. */
  readonly ttlOffsets: readonly number[];
  /** Seconds until it expires, from 1. */
  readonly lifetime: number;
  /** Of a stale answer (RFC 8767): when its TTL ended, in seconds since the epoch. Default: it ends with its lifetime. */
  readonly freshUntil?: number;
  readonly metricsId: number;
}

/** A cached answer as it stands, expired or not. */
export interface CachedEntry extends CachedAnswer {
  /** Seconds since the epoch. */
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
