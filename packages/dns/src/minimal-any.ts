/**
 * The answer to a question for ANY (RFC 8482 section 4.2): one HINFO record that explains the short answer.
 */
import { HEADER_OCTETS } from './header.ts';
import { type AbsoluteName, CLASS, type ResourceRecord, TYPE } from './types.ts';

/** Seconds. The record never changes; the number points to the RFC. */
const TTL = 8482;

/** The same record in wire form, its owner a pointer to the question's name at offset 12. */
export const MINIMAL_ANY_OCTETS: Uint8Array = Uint8Array.of(
  0xc0,
  HEADER_OCTETS,
  0,
  TYPE.HINFO,
  0,
  CLASS.IN,
  0,
  0,
  TTL >> 8,
  TTL & 0xff,
  0,
  9,
  7,
  ...Buffer.from('RFC8482', 'latin1'),
  0,
);

export function minimalAnyRecord(name: AbsoluteName): ResourceRecord {
  const cpu = Uint8Array.from(Buffer.from('RFC8482', 'latin1'));
  return { name, class: CLASS.IN, ttl: TTL, data: { kind: 'HINFO', cpu, os: new Uint8Array(0) } };
}
