/**
 * What handlers say to a query. Records are whole, with the owner names to send.
 */
import type { CachedAnswer } from '../table/types.ts';
import type { AbsoluteName, Edns, ResourceRecord } from '../wire/types.ts';

export type Answer =
  | {
      readonly kind: 'records';
      readonly records: readonly ResourceRecord[];
      readonly additionals: readonly ResourceRecord[];
      readonly authoritative: boolean;
      readonly lifetime?: Lifetime;
    }
  /** An alias, and where the question goes on. It is followed before an answer leaves the chain. */
  | {
      readonly kind: 'alias';
      readonly records: readonly ResourceRecord[];
      readonly target: AbsoluteName;
      /** What to say when the target has no answer. */
      readonly unanswered: 'alias' | 'nodata';
      readonly soa: ResourceRecord;
      readonly authoritative: boolean;
    }
  | Denial
  | {
      readonly kind: 'delegation';
      readonly nameservers: readonly ResourceRecord[];
      readonly additionals: readonly ResourceRecord[];
    }
  | Forwarded
  | WholeAnswer
  /**
   * Nothing but a response code. `refused` is also what the end of the chain says; `overloaded` is REFUSED too, for want
   * of room.
   */
  | {
      readonly kind: 'refused' | 'servfail' | 'notimp' | 'formerr' | 'overloaded';
      readonly lifetime?: Lifetime;
      /** Why, for the handler that logs errors. Undefined: nothing went wrong. */
      readonly reason?: string;
    }
  /** No response at all. */
  | { readonly kind: 'drop' };

/** The name, or the type at it, does not exist (RFC 2308). */
export interface Denial {
  readonly kind: 'nodata' | 'nxdomain';
  /** Aliases that led to the name that is denied. */
  readonly aliases: readonly ResourceRecord[];
  readonly soa: ResourceRecord | undefined;
  readonly authoritative: boolean;
  readonly lifetime?: Lifetime;
}

/** What a server that was asked has said. Its records lead from the question to the answer, aliases included. */
export interface Forwarded {
  readonly kind: 'forwarded';
  /** The whole response code. */
  readonly rcode: number;
  /** Only where an alias of ours comes first. */
  readonly authoritative: boolean;
  readonly truncated: boolean;
  /** Whether a server that is trusted says that it has validated all of it. */
  readonly authenticData: boolean;
  readonly answers: readonly ResourceRecord[];
  readonly authorities: readonly ResourceRecord[];
  readonly additionals: readonly ResourceRecord[];
  /** The same, as it is to be remembered; nothing if it is not to be remembered. */
  readonly memory: CachedAnswer | undefined;
}

/** What an answer says in an OPT record of its own. Where the query has one, its size counts, and DO is set if either has it. */
export type OwnEdns = Pick<Edns, 'udpSize' | 'dnssecOk' | 'options'>;

/** A response as it is to be sent: its handler says every part of it. */
export interface WholeAnswer {
  readonly kind: 'message';
  /** The whole response code. */
  readonly rcode: number;
  readonly authoritative: boolean;
  readonly truncated: boolean;
  readonly recursionAvailable: boolean;
  readonly authenticData: boolean;
  /** Undefined: as in the query. */
  readonly recursionDesired?: boolean;
  readonly checkingDisabled?: boolean;
  readonly answers: readonly ResourceRecord[];
  readonly authorities: readonly ResourceRecord[];
  readonly additionals: readonly ResourceRecord[];
  /** An OPT record of its own, sent even to a client that sent none. Undefined: the OPT of the query is repeated. */
  readonly edns?: OwnEdns;
  /** What went wrong though there is a response, for the handler that logs errors. */
  readonly reason?: string;
}

/**
 * For how many seconds, from 1, an answer may be remembered for others. Without one it is made anew for every query: so it
 * is with all names of our own zones, which are never answered from memory.
 */
export type Lifetime = number;
