/**
 * NSEC records: which types a name has, and which name is the next one (RFC 4034 section 4).
 */
import { encodeName } from '../name.ts';
import { encodeTypeBitmap } from '../signed-records.ts';
import { type AbsoluteName, CLASS, type ResourceRecord, TYPE } from '../types.ts';

export interface NsecFields {
  readonly name: AbsoluteName;
  /** Seconds. */
  readonly ttl: number;
  readonly next: AbsoluteName;
  /** In any order. */
  readonly types: Iterable<number>;
}

export function makeNsec({ name, ttl, next, types }: NsecFields): ResourceRecord {
  const bytes = Uint8Array.from(Buffer.concat([encodeName(next), encodeTypeBitmap(types)]));
  return { name, class: CLASS.IN, ttl, data: { kind: 'unknown', type: TYPE.NSEC, bytes } };
}
