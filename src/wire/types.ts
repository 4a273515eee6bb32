/**
 * The values of a DNS message (RFC 1035 section 4), as other folders see them.
 *
 * Types and classes are plain numbers, since any number may arrive; `TYPE` and `CLASS` name the ones we handle.
 */
import type { Brand } from '../base/brand.ts';

/** An uncompressed name in wire form, root label included, at most 255 octets (RFC 1035 section 3.1). */
export type WireName = Brand<Uint8Array, 'WireName'>;
/** A name in presentation form, ending in a dot, with `\.` and `\DDD` escapes (RFC 1035 section 5.1, RFC 4343). */
export type AbsoluteName = Brand<string, 'AbsoluteName'>;
/** An absolute name with its ASCII letters in lower case: the form for comparison and look-up. */
export type NameKey = AbsoluteName & Brand<string, 'NameKey'>;

export const TYPE = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  HINFO: 13,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  SRV: 33,
  NAPTR: 35,
  DNAME: 39,
  OPT: 41,
  DS: 43,
  SVCB: 64,
  HTTPS: 65,
  TKEY: 249,
  TSIG: 250,
  IXFR: 251,
  AXFR: 252,
  MAILB: 253,
  MAILA: 254,
  ANY: 255,
  CAA: 257,
} as const;

export const CLASS = { IN: 1, CH: 3, HS: 4, NONE: 254, ANY: 255 } as const;

export const RCODE = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  YXDOMAIN: 6,
  NOTAUTH: 9,
  BADVERS: 16,
} as const;

export const OPCODE = { QUERY: 0, IQUERY: 1, STATUS: 2, NOTIFY: 4, UPDATE: 5 } as const;

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
  readonly class: number;
  /** Seconds, 0 to 2^31 - 1 (RFC 2181 section 8). */
  readonly ttl: number;
  readonly data: RecordData;
}

export interface Question {
  readonly name: AbsoluteName;
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

export interface Message {
  readonly header: Header;
  readonly questions: readonly Question[];
  readonly answers: readonly ResourceRecord[];
  readonly authorities: readonly ResourceRecord[];
  /** Without the OPT record, which is `edns`. */
  readonly additionals: readonly ResourceRecord[];
  readonly edns: Edns | undefined;
}
