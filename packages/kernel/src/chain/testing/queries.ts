/**
 * Queries and answers for tests of handlers.
 */
import { parseType } from '@portolan/dns/mnemonics.ts';
import { parseName } from '@portolan/dns/name.ts';
import { presentRecord } from '@portolan/dns/present.ts';
import type { Asked } from '@portolan/dns/query.ts';
import { CLASS, type Header, OPCODE, type RecordData, type ResourceRecord } from '@portolan/dns/types.ts';
import type { Answer } from '../answer.ts';
import type { Handler } from '../handler.ts';
import { ALL_QUESTIONS } from '../match.ts';
import { type Client, Query } from '../query.ts';

export const CLIENT: Client = { address: '192.0.2.53', port: 5353, transport: 'udp' };

export const QUERY_HEADER: Header = {
  id: 4711,
  response: false,
  opcode: OPCODE.QUERY,
  authoritative: false,
  truncated: false,
  recursionDesired: true,
  recursionAvailable: false,
  authenticData: false,
  checkingDisabled: false,
  rcode: 0,
};

export function makeQuery(name: string, type = 'A', dnsClass: number = CLASS.IN): Query {
  const question = { name: parseName(name), type: parseType(type) ?? 0, class: dnsClass };
  const asked: Asked = { header: QUERY_HEADER, question, edns: undefined };
  return new Query(question, asked, CLIENT);
}

export function record(name: string, data: RecordData, ttl = 30): ResourceRecord {
  return { name: parseName(name), class: CLASS.IN, ttl, data };
}

export function addresses(name: string, ...texts: string[]): Answer {
  const records = texts.map((address) => record(name, { kind: 'A', address }));
  return { kind: 'records', records, additionals: [], authoritative: true };
}

export const SOA = record('example.', {
  kind: 'SOA',
  serial: 1,
  refresh: 2,
  retry: 3,
  expire: 4,
  minimum: 5,
  primary: parseName('ns.example.'),
  mailbox: parseName('hostmaster.example.'),
});

export function alias(name: string, target: string, unanswered: 'alias' | 'nodata' = 'alias'): Answer {
  const data = { kind: 'CNAME', target: parseName(target) } as const;
  const records = [record(name, data)];
  return { kind: 'alias', records, target: parseName(target), unanswered, soa: SOA, authoritative: true };
}

export function denial(kind: 'nodata' | 'nxdomain'): Answer {
  return { kind, aliases: [], soa: SOA, authoritative: true };
}

/** An answer in short: its kind, and its records as lines. */
export function told(answer: Answer): readonly string[] {
  if (answer.kind === 'records') return [answer.kind, ...answer.records.map(presentRecord)];
  if (answer.kind === 'nodata' || answer.kind === 'nxdomain')
    return [answer.kind, ...answer.aliases.map(presentRecord)];
  return [answer.kind];
}

/** A handler of a test: it may do anything with any question. */
export function makeHandler(handle: Handler['handle']): Handler {
  return { name: 'test', role: 'other', questions: ALL_QUESTIONS, answers: 'chain', handle };
}
