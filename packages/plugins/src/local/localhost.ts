/**
 * Names of the host itself (RFC 6761 section 6.3, RFC 6303): localhost and names below it, and the reverse zones of 0, 127 and 255.
 */
import { isWithin, parseName, toParent } from '@portolan/dns/name.ts';
import {
  type AbsoluteName,
  CLASS,
  type NameKey,
  type Question,
  RCODE,
  type RecordData,
  type ResourceRecord,
  TYPE,
} from '@portolan/dns/types.ts';
import type { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { Handler } from '@portolan/kernel/chain/handler.ts';
import { CountFamily } from '@portolan/kernel/chain/handler-counts.ts';
import { isWithinAny, type Match, type Questions } from '@portolan/kernel/chain/match.ts';
import { EMPTY_ANSWER } from '@portolan/kernel/chain/whole-answer.ts';
import type { LocalOptions } from './options.ts';

/** A week, in seconds. */
const TTL = 604_800;
// Lower case by inspection.
const LOCALHOST = parseName('localhost.') as NameKey;
const LOOPBACK = parseName('1.0.0.127.in-addr.arpa.') as NameKey;
const ZONES: ReadonlySet<NameKey> = new Set([
  LOCALHOST,
  ...['0.in-addr.arpa.', '127.in-addr.arpa.', '255.in-addr.arpa.'].map((zone) => parseName(zone) as NameKey),
]);

/** Answers any name with `localhost.` in front like `localhost.` itself, unless the options disable it. */
export function createLocalhostHandler(
  { answersLocalhostPrefix }: LocalOptions,
  metrics: MetricRegistry,
): Handler {
  const counted = new CountFamily(
    metrics,
    'coredns_local_localhost_requests_total',
    'Counter of special localhost subdomain requests.',
  ).with();

  const isHost = (name: NameKey): boolean =>
    name !== LOCALHOST &&
    (isWithin(name, LOCALHOST) || (answersLocalhostPrefix && name.startsWith(LOCALHOST)));
  return {
    name: 'local',
    role: 'other',
    answers: 'unchanged',
    questions: compileQuestions(isHost, answersLocalhostPrefix),
    handle(query, next) {
      if (isHost(query.key)) {
        query.count(counted);
        return answerHost(query.question);
      }
      return isWithinAny(query.key, ZONES) ? answerZone(query.key, query.question) : next(query);
    },
  };
}

function compileQuestions(isHost: (name: NameKey) => boolean, hasPrefix: boolean): Questions {
  const names: readonly Match['name'][] = hasPrefix
    ? [{ kind: 'any' }]
    : [...ZONES].map((name) => ({ kind: 'suffix', name }));
  return {
    includes: (name) => isHost(name) || isWithinAny(name, ZONES),
    matches: () => names.map((name) => ({ name, types: 'all' })),
  };
}

function answerHost({ name, type }: Question): Answer {
  const address = makeLoopbackData(type);
  return address === undefined ? denial(name, RCODE.NOERROR) : positive(makeRecord(name, address));
}

function answerZone(key: NameKey, { name, type }: Question): Answer {
  if (ZONES.has(key)) return answerApex(key, name, type);
  // The apex as it was written in the question.
  let [zone, zoneKey]: [AbsoluteName, NameKey] = [name, key];
  while (!ZONES.has(zoneKey)) [zone, zoneKey] = [toParent(zone) ?? zone, toParent(zoneKey) ?? LOCALHOST];
  if (key !== LOOPBACK) return denial(zone, RCODE.NXDOMAIN);
  if (type !== TYPE.PTR) return denial(zone, RCODE.NOERROR);
  return positive(makeRecord(name, { kind: 'PTR', target: LOCALHOST }));
}

function answerApex(key: NameKey, name: AbsoluteName, type: number): Answer {
  const address = key === LOCALHOST ? makeLoopbackData(type) : undefined;
  if (address !== undefined) return positive(makeRecord(name, address));
  if (type === TYPE.SOA) return positive(makeSoa(name));
  return type === TYPE.NS
    ? positive(makeRecord(name, { kind: 'NS', target: LOCALHOST }))
    : denial(name, RCODE.NOERROR);
}

function makeLoopbackData(type: number): RecordData | undefined {
  if (type === TYPE.A) return { kind: 'A', address: '127.0.0.1' };
  return type === TYPE.AAAA ? { kind: 'AAAA', address: '::1' } : undefined;
}

function positive(record: ResourceRecord): Answer {
  return { ...EMPTY_ANSWER, answers: [record] };
}

function denial(zone: AbsoluteName, rcode: number): Answer {
  return { ...EMPTY_ANSWER, rcode, authorities: [makeSoa(zone)] };
}

function makeRecord(name: AbsoluteName, data: RecordData): ResourceRecord {
  return { name, class: CLASS.IN, ttl: TTL, data };
}

function makeSoa(zone: AbsoluteName): ResourceRecord {
  return makeRecord(zone, {
    kind: 'SOA',
    primary: LOCALHOST,
    mailbox: parseName('root.localhost.'),
    serial: 1,
    refresh: 0,
    retry: 0,
    expire: 0,
    minimum: TTL,
  });
}
