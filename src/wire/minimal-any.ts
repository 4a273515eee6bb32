/**
 * The answer to a question for ANY (RFC 8482 section 4.2): one HINFO record that says why there is not more.
 */
import { type AbsoluteName, CLASS, type ResourceRecord } from './types.ts';

/** Seconds. The record never changes, and the number tells people where to read on. */
const TTL = 8482;

export function minimalAnyRecord(name: AbsoluteName): ResourceRecord {
  const cpu = Uint8Array.from(Buffer.from('RFC8482', 'latin1'));
  return { name, class: CLASS.IN, ttl: TTL, data: { kind: 'HINFO', cpu, os: new Uint8Array(0) } };
}
