/**
 * The recorded answers of CoreDNS's plugin and SkyDNS from the same keys: `records.jsonl`, `skydns.jsonl`. docs/reference/etcd.md
 * describes the results; README.md describes the programs and the queries.
 */
import { parseName } from '@portolan/dns/name.ts';
import { presentRecord } from '@portolan/dns/present.ts';
import { CLASS, RCODE, type ResourceRecord, TYPE } from '@portolan/dns/types.ts';
import { readRecording } from '../support/recordings.ts';

export interface RecordedQuestion {
  readonly name: string;
  readonly type: string;
  readonly class?: string;
  readonly edns?: number;
  readonly do?: boolean;
}

export interface RecordedAnswer {
  readonly rcode: string;
  readonly flags: readonly string[];
  readonly answer: readonly string[];
  readonly authority: readonly string[];
  readonly additional: readonly string[];
}

export interface RecordedCase {
  readonly name: string;
  readonly server: string;
  readonly keys: Readonly<Record<string, string>>;
  /** Seconds, by key. */
  readonly leases?: Readonly<Record<string, number>>;
  /** TTLs may be lower, as time has passed. */
  readonly ttlWithin?: number;
  readonly steps: readonly { readonly ask: RecordedQuestion; readonly answer: RecordedAnswer }[];
}

export interface SkyDnsCase {
  readonly name: string;
  readonly v2?: readonly RecordedAnswer[] | null;
  readonly v3?: readonly RecordedAnswer[] | null;
  readonly both?: readonly RecordedAnswer[];
}

export const CASES = readRecording<RecordedCase>('test/etcd/records.jsonl');
export const SKYDNS_CASES = readRecording<SkyDnsCase>('test/etcd/skydns.jsonl');

/** What is answered below `example` and `test` by the server that stood for the outside world. */
export function answerOutside(
  name: string,
  type: number,
): { readonly rcode: number; readonly records: ResourceRecord[] } {
  const owner = parseName(name.toLowerCase());
  const record = (data: ResourceRecord['data']) => ({
    rcode: RCODE.NOERROR,
    records: [{ name: owner, class: CLASS.IN, ttl: 60, data }],
  });
  const isHost = /^(www|mail|[a-d])\.ext\.example\.$/.test(owner);
  const isDual = /^(www|mail)\.ext\.example\.$/.test(owner);
  if (isHost && type === TYPE.A) return record({ kind: 'A', address: '192.0.2.80' });
  if (isDual && type === TYPE.AAAA) return record({ kind: 'AAAA', address: '2001:db8::80' });
  if (owner.endsWith('.test.') && type === TYPE.A) return record({ kind: 'A', address: '192.0.2.66' });
  if (owner === 'www.ext.example.' && type === TYPE.TXT)
    return record({ kind: 'TXT', strings: [Buffer.from('outside')] });
  return { rcode: RCODE.NXDOMAIN, records: [] };
}

/** A record as the files have it. */
export function describeRecord(record: ResourceRecord): string {
  const name = record.name.toLowerCase() as typeof record.name;
  const text = presentRecord({ ...record, name });
  return record.data.kind === 'SOA' ? text.replace(/(SOA \S+ \S+) \d+/, '$1 *') : text;
}
