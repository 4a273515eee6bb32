/**
 * The values of a DNS message (RFC 1035 section 4), as other folders see them. Plugins see many of them too: `packages/plugin` has those.
 *
 * Types and classes are plain numbers, since any number may arrive; `TYPE` and `CLASS` name the ones we handle.
 */
import type { Edns, Header, Question, ResourceRecord } from '@portolan/plugin';
import type { Brand } from './brand.ts';

export type {
  AbsoluteName,
  Edns,
  EdnsOption,
  Header,
  NameKey,
  Question,
  RecordData,
  ResourceRecord,
} from '@portolan/plugin';

/** An uncompressed name in wire form, root label included, at most 255 octets (RFC 1035 section 3.1). */
export type WireName = Brand<Uint8Array, 'WireName'>;

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
  RRSIG: 46,
  NSEC: 47,
  DNSKEY: 48,
  CDS: 59,
  CDNSKEY: 60,
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

export interface Message {
  readonly header: Header;
  readonly questions: readonly Question[];
  readonly answers: readonly ResourceRecord[];
  readonly authorities: readonly ResourceRecord[];
  /** Without the OPT record, which is `edns`. */
  readonly additionals: readonly ResourceRecord[];
  readonly edns: Edns | undefined;
}
