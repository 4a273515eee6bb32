/**
 * Questions, records and answers of DNS (RFC 1035), as plugins see them.
 */
declare const kind: unique symbol;

type Brand<Base, Kind extends string> = Base & { readonly [kind]: { readonly [Name in Kind]: true } };

/**
 * A name in presentation form that ends in a dot, with `\.` and `\DDD` escapes (RFC 1035 section 5.1). `toName` makes one; that of a
 * question has the letters of the client.
 */
export type AbsoluteName = Brand<string, 'AbsoluteName'>;
/** An absolute name in lower case: the form for comparison and look-up. `toKey` makes one. */
export type NameKey = AbsoluteName & Brand<string, 'NameKey'>;

/** Record data, by the name of its type. `unknown` carries every other type (RFC 3597). */
export type RecordData =
  | { readonly kind: 'A'; readonly address: string }
  | { readonly kind: 'AAAA'; readonly address: string }
  | { readonly kind: 'CNAME' | 'DNAME' | 'NS' | 'PTR'; readonly target: AbsoluteName }
  | {
      readonly kind: 'SOA';
      readonly primary: AbsoluteName;
      readonly mailbox: AbsoluteName;
      readonly serial: number;
      readonly refresh: number;
      readonly retry: number;
      readonly expire: number;
      readonly minimum: number;
    }
  | { readonly kind: 'MX'; readonly preference: number; readonly exchange: AbsoluteName }
  | { readonly kind: 'TXT'; readonly strings: readonly Uint8Array[] }
  | {
      readonly kind: 'SRV';
      readonly priority: number;
      readonly weight: number;
      readonly port: number;
      readonly target: AbsoluteName;
    }
  | { readonly kind: 'HINFO'; readonly cpu: Uint8Array; readonly os: Uint8Array }
  | {
      readonly kind: 'NAPTR';
      readonly order: number;
      readonly preference: number;
      readonly flags: Uint8Array;
      readonly services: Uint8Array;
      readonly regexp: Uint8Array;
      readonly replacement: AbsoluteName;
    }
  | { readonly kind: 'CAA'; readonly flags: number; readonly tag: string; readonly value: Uint8Array }
  | {
      readonly kind: 'SVCB' | 'HTTPS';
      readonly priority: number;
      readonly target: AbsoluteName;
      readonly parameters: readonly { readonly key: number; readonly value: Uint8Array }[];
    }
  | { readonly kind: 'unknown'; readonly type: number; readonly bytes: Uint8Array };

export interface ResourceRecord {
  readonly name: AbsoluteName;
  /** 1 is IN. */
  readonly class: number;
  /** Seconds, 0 to 2^31 - 1 (RFC 2181 section 8). */
  readonly ttl: number;
  readonly data: RecordData;
}

export interface Question {
  readonly name: AbsoluteName;
  /** RFC 1035 section 3.2.2: 1 is A. `TYPE` names some. */
  readonly type: number;
  readonly class: number;
}

/** EDNS (RFC 6891). `extendedRcode` is the upper eight bits only. */
export interface Edns {
  readonly version: number;
  readonly udpSize: number;
  readonly dnssecOk: boolean;
  readonly extendedRcode: number;
  readonly options: readonly EdnsOption[];
}

export interface EdnsOption {
  readonly code: number;
  readonly data: Uint8Array;
}

export interface Header {
  readonly id: number;
  readonly response: boolean;
  readonly opcode: number;
  readonly authoritative: boolean;
  readonly truncated: boolean;
  readonly recursionDesired: boolean;
  readonly recursionAvailable: boolean;
  readonly authenticData: boolean;
  readonly checkingDisabled: boolean;
  /** The lower four bits; the whole rcode needs `edns.extendedRcode` too. */
  readonly rcode: number;
}

/** The extended errors of an upstream server as they are passed on: options in wire form. Only the host makes them. */
export type PassedErrors = Brand<Uint8Array, 'PassedErrors'>;

/** The form of an answer that a cache keeps. Only the host makes it, and reads it. */
export interface StoredForm {
  readonly [kind]?: 'stored';
}

/** Records are complete, with the owner names to send. */
export type Answer =
  | {
      readonly kind: 'records';
      readonly records: readonly ResourceRecord[];
      readonly additionals: readonly ResourceRecord[];
      readonly authoritative: boolean;
      /** Whether a part that others answered lacks records. Default: no. */
      readonly truncated?: boolean;
      readonly lifetime?: Lifetime;
      /** RFC 8914: 3 for records that may be out of date. */
      readonly extendedError?: number;
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
      /** RFC 8914. */
      readonly extendedError?: number;
    }
  /** Send no response. */
  | { readonly kind: 'drop' };

/** The name, or the type at it, does not exist (RFC 2308). */
export interface Denial {
  readonly kind: 'nodata' | 'nxdomain';
  /** Aliases that led to the name that is denied. */
  readonly aliases: readonly ResourceRecord[];
  /** Without it, resolvers do not keep the denial. */
  readonly soa: ResourceRecord | undefined;
  readonly authoritative: boolean;
  readonly lifetime?: Lifetime;
}

/** Answer of an upstream server. Its records lead from the question to the answer, aliases included. */
export interface Forwarded {
  readonly kind: 'forwarded';
  /** The whole response code. */
  readonly rcode: number;
  /** Only where an alias of this server comes first. */
  readonly authoritative: boolean;
  readonly truncated: boolean;
  /** Whether a trusted server reports that it has validated the whole answer. */
  readonly authenticData: boolean;
  readonly answers: readonly ResourceRecord[];
  readonly authorities: readonly ResourceRecord[];
  readonly additionals: readonly ResourceRecord[];
  /** The form to cache; undefined if it must not be cached. */
  readonly memory: StoredForm | undefined;
  /** Of an answer from the cache. */
  readonly extendedError?: number | undefined;
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
  readonly extendedError?: number | undefined;
  readonly passedErrors?: PassedErrors | undefined;
  /** The answer sections of responses that are sent behind this one. Their other parts are those of this one. */
  readonly following?: Iterable<readonly ResourceRecord[]>;
}

/**
 * Seconds, at least 1, for which an answer may be cached for other clients. The chain computes an answer without a lifetime again
 * for every query: names of our own zones never have one.
 */
export type Lifetime = number;

/** Numbers of record types. Any other number may arrive. */
export declare const TYPE: {
  readonly A: 1;
  readonly NS: 2;
  readonly CNAME: 5;
  readonly SOA: 6;
  readonly PTR: 12;
  readonly HINFO: 13;
  readonly MX: 15;
  readonly TXT: 16;
  readonly AAAA: 28;
  readonly SRV: 33;
  readonly NAPTR: 35;
  readonly DNAME: 39;
  readonly SVCB: 64;
  readonly HTTPS: 65;
  readonly IXFR: 251;
  readonly AXFR: 252;
  readonly ANY: 255;
  readonly CAA: 257;
};

export declare const CLASS: { readonly IN: 1; readonly CH: 3 };

/** The number of the type of record data. */
export declare function typeOfData(data: RecordData): number;

/** A name with a dot at its end. @throws RangeError for a text that is not a name */
export declare function toName(text: string): AbsoluteName;

/** The same in lower case. @throws RangeError for a text that is not a name */
export declare function toKey(text: string): NameKey;

/** Whether a name is another one or below it. */
export declare function isWithin(name: NameKey, ancestor: NameKey): boolean;

/** Whether a name is one of `names` or below one. The cost depends on the number of its labels, not on the size of the set. */
export declare function isWithinAny(name: NameKey, names: ReadonlySet<NameKey>): boolean;

/** An empty response, to be filled. */
export declare const EMPTY_ANSWER: WholeAnswer;

/** Whether an answer is a response, not only a code that the server turns into one, and not `drop`. */
export declare function isResponse(answer: Answer): boolean;

/** Any answer as a whole response. A code is a response without records. */
export declare function toWhole(answer: Exclude<Answer, { readonly kind: 'drop' }>): WholeAnswer;
