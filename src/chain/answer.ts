/**
 * Answers of handlers to queries. Records are complete, with the owner names to send.
 */
import type { CachedAnswer } from '../table/types.ts';
import type { ExtendedErrorCode, PassedErrors } from '../wire/extended-error.ts';
import type { AbsoluteName, Edns, ResourceRecord } from '../wire/types.ts';

export type Answer =
  | {
      readonly kind: 'records';
      readonly records: readonly ResourceRecord[];
      readonly additionals: readonly ResourceRecord[];
      readonly authoritative: boolean;
      /** Whether a part that others answered lacks records. Default: no. */
      readonly truncated?: boolean;
      readonly lifetime?: Lifetime;
    }
  /** An alias and its target. The chain follows it before the answer leaves. */
  | {
      readonly kind: 'alias';
      readonly records: readonly ResourceRecord[];
      readonly target: AbsoluteName;
      /** Answer to send if the target has no answer. */
      readonly unanswered: 'alias' | 'nodata';
      readonly soa: ResourceRecord;
      readonly authoritative: boolean;
    }
  | Denial
  | Forwarded
  | WholeAnswer
  /**
   * Only a response code. `refused` is also the answer at the end of the chain. `overloaded` is sent as REFUSED: there was no room.
   */
  | {
      readonly kind: 'refused' | 'servfail' | 'notimp' | 'formerr' | 'overloaded';
      readonly lifetime?: Lifetime;
      /** For the handler that logs errors. Undefined: no error. */
      readonly reason?: string;
      readonly extendedError?: ExtendedErrorCode;
    }
  /** Send no response. */
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

/** Answer of an upstream server. Its records lead from the question to the answer, aliases included. */
export interface Forwarded {
  readonly kind: 'forwarded';
  /** The whole response code. */
  readonly rcode: number;
  /** Only where an alias of ours comes first. */
  readonly authoritative: boolean;
  readonly truncated: boolean;
  /** Whether a trusted server reports that it has validated the whole answer. */
  readonly authenticData: boolean;
  readonly answers: readonly ResourceRecord[];
  readonly authorities: readonly ResourceRecord[];
  readonly additionals: readonly ResourceRecord[];
  /** The form to cache; undefined if it must not be cached. */
  readonly memory: CachedAnswer | undefined;
  /** Of an answer from the cache. */
  readonly extendedError?: ExtendedErrorCode | undefined;
  /** What the upstream server sent with it. */
  readonly passedErrors?: PassedErrors | undefined;
}

/** An answer's own OPT record. If the query has one too, its UDP size applies, and DO is set if either has it. */
export type OwnEdns = Pick<Edns, 'udpSize' | 'dnssecOk' | 'options'>;

/** A response to send as it is: its handler sets every part. */
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
  /** An error that occurred although there is a response; for the handler that logs errors. */
  readonly reason?: string;
  /** Sent unless `edns` has an extended error. Likewise for the next field. */
  readonly extendedError?: ExtendedErrorCode | undefined;
  readonly passedErrors?: PassedErrors | undefined;
  /** The answer sections of responses that are sent behind this one. Their other parts are those of this one. */
  readonly following?: Iterable<readonly ResourceRecord[]>;
}

/**
 * Seconds, at least 1, for which an answer may be cached for other clients. The chain computes an answer without a lifetime again
 * for every query: names of our own zones never have one.
 */
export type Lifetime = number;
