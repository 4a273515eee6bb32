/**
 * Record sets: all records of one name and type (RFC 2181 section 5).
 */
import { type AbsoluteName, CLASS, type RecordData, type ResourceRecord } from '@portolan/dns/types.ts';

export interface RecordSet {
  /** The type of question that it answers. */
  readonly type: number;
  /** Seconds, the same for all records (RFC 2181 section 5.2). */
  readonly ttl: number;
  /** At least one, without duplicates. */
  readonly data: readonly RecordData[];
  /**
   * The additional records of an answer with this set: the addresses of its targets. `elsewhere`: they belong to other
   * owners and change independently, so they are looked up for each query.
   */
  readonly additional: readonly NamedSet[] | 'elsewhere';
  /** The CNAME records, at least one, that lead from the node's name to the owner of `data`. */
  readonly aliases?: readonly ResourceRecord[];
}

/** A record set with its owner. */
export interface NamedSet {
  readonly name: AbsoluteName;
  readonly set: RecordSet;
}

/** An empty list of additional records. */
export const NO_ADDITIONAL: readonly NamedSet[] = [];

/** A set without additional records. */
export function recordSet(type: number, ttl: number, data: readonly RecordData[]): RecordSet {
  return { type, ttl, data, additional: NO_ADDITIONAL };
}

/** The set as records of class IN under this name. */
export function toRecords(name: AbsoluteName, set: RecordSet): ResourceRecord[] {
  return set.data.map((data) => ({ name, class: CLASS.IN, ttl: set.ttl, data }));
}
