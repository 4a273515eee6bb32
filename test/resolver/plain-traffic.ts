/**
 * Questions and replies of all kinds, well-formed and hostile, for tests that compare two ways to forward them.
 */
import { decodeMessage, encodeMessage } from '@portolan/dns/message.ts';
import { parseName } from '@portolan/dns/name.ts';
import { type Message, type RecordData, type ResourceRecord, TYPE } from '@portolan/dns/types.ts';
import { QUERY_HEADER } from '@portolan/kernel/chain/testing/queries.ts';
import { type CachingRules, SERVE_CACHING } from '@portolan/kernel/forward/caching/caching-rules.ts';
import { DEFAULT_FORWARD_PLAN, defaultRule } from '@portolan/kernel/forward/forward-plan.ts';
import { parseUpstream } from '@portolan/kernel/forward/upstream-address.ts';
import fc from 'fast-check';
import type { CachedResolverSettings } from './cached-resolver.ts';

export interface Question {
  readonly name: string;
  readonly type: number;
  readonly edns: Message['edns'];
  readonly header: Message['header'];
}

/** Makes the packet of a reply from the packet of the query that it is for. */
export type Reply = (query: Uint8Array) => Uint8Array;

/** Names are the same in whatever letters they are written, and however they are shortened. */
export const inLowerCase = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, part) => (typeof part === 'string' ? part.toLowerCase() : part)));

export const read = (response: Uint8Array | undefined): unknown => {
  if (response === undefined) return undefined;
  const { questions, ...rest } = decodeMessage(response);
  return { questions, rest: inLowerCase(rest) };
};

const record = (name: string, ttl: number, data: RecordData): ResourceRecord => ({
  name: parseName(name),
  class: 1,
  ttl,
  data,
});

const ttl = fc.oneof(
  fc.integer({ min: 0, max: 100_000 }),
  fc.constantFrom(0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff),
);
const ipv4 = fc.nat(255).map((octet): RecordData => ({ kind: 'A', address: `192.0.2.${octet}` }));
const ipv6 = fc.nat(9).map((digit): RecordData => ({ kind: 'AAAA', address: `2001:db8::${digit}` }));
const other = fc.constantFrom<RecordData>(
  { kind: 'CNAME', target: parseName('other.example.') },
  { kind: 'TXT', strings: [Uint8Array.of(1, 2)] },
  { kind: 'NS', target: parseName('ns.example.') },
);
const data = fc.oneof({ weight: 5, arbitrary: ipv4 }, { weight: 5, arbitrary: ipv6 }, other);
const name = fc.constantFrom('www.example.', 'wWw.eXample.', 'a.b.c.example.', 'x.');
/** Aliases of a name, one leading to the next; some lead back. */
const aliases = fc.array(
  fc.constantFrom('a.example.', 'B.c.Example.', 'other.', 'www.example.', 'far.away.test.'),
  { maxLength: 3 },
);
const soa = fc.record({
  zone: fc.constantFrom('.', 'example.', 'c.example.', 'test.', 'elsewhere.'),
  ttl,
  minimum: fc.constantFrom(0, 1, 5, 900),
});
export const sections = fc.record({
  shape: fc.constantFrom('any', 'answer', 'denial'),
  aliases,
  soa,
  answers: fc.array(fc.record({ own: fc.boolean(), ttl, data }), { maxLength: 40 }),
  wanted: fc.boolean(),
  authorities: fc.array(data, { maxLength: 1 }),
  rcode: fc.constantFrom(0, 0, 0, 2, 3),
  truncated: fc.constantFrom(false, false, false, true),
  authenticData: fc.boolean(),
  edns: fc.constantFrom(
    undefined,
    { version: 0, udpSize: 1232, dnssecOk: false, extendedRcode: 0, options: [] },
    { version: 0, udpSize: 1232, dnssecOk: true, extendedRcode: 1, options: [] },
    {
      version: 0,
      udpSize: 1232,
      dnssecOk: false,
      extendedRcode: 0,
      options: [{ code: 8, data: Uint8Array.of(0, 1, 24, 24, 192, 0, 2) }],
    },
    {
      version: 0,
      udpSize: 1232,
      dnssecOk: false,
      extendedRcode: 0,
      options: [{ code: 15, data: Uint8Array.of(0, 22) }],
    },
    {
      version: 1,
      udpSize: 1,
      dnssecOk: true,
      extendedRcode: 0,
      options: [{ code: 10, data: Uint8Array.of(1, 2, 3) }],
    },
  ),
});

/** A reply that is well formed, to the question whatever it is. */
export function wellFormed(
  asked: Question,
  parts: typeof sections extends fc.Arbitrary<infer T> ? T : never,
): Reply {
  const isWanted = ({ kind }: RecordData) => (kind === 'AAAA') === (asked.type === TYPE.AAAA);
  return (query) => {
    const own = parts.shape === 'any' ? [] : parts.aliases;
    const end = own.at(-1) ?? asked.name;
    const along = own.map((target, step) =>
      record(own[step - 1] ?? asked.name, 60 * step + 1, { kind: 'CNAME', target: parseName(target) }),
    );
    const answers = parts.answers
      .filter((each) => parts.shape !== 'denial' && (!parts.wanted || (each.own && isWanted(each.data))))
      .map((each) => record(each.own ? end : 'else.example.', each.ttl, each.data));
    const { zone, minimum } = parts.soa;
    const denial = record(zone, parts.soa.ttl, {
      kind: 'SOA',
      primary: parseName(`ns.${asked.name}`),
      mailbox: parseName('root.example.'),
      serial: 1,
      refresh: 2,
      retry: 3,
      expire: 4,
      minimum,
    });
    const message: Message = {
      header: {
        ...QUERY_HEADER,
        response: true,
        rcode: parts.rcode,
        truncated: parts.truncated,
        authenticData: parts.authenticData,
      },
      questions: [{ name: parseName(asked.name), type: asked.type, class: 1 }],
      answers: [...along, ...answers],
      authorities:
        parts.shape === 'any'
          ? parts.authorities.map((each) => record('example.', 60, each))
          : parts.shape === 'denial'
            ? [denial]
            : [],
      additionals: [],
      edns: parts.edns,
    };
    const octets = encodeMessage(message);
    octets.set(query.subarray(0, 2));
    return octets;
  };
}

/** What a hostile server or a forger makes of a reply. */
export const change = fc.oneof(
  { weight: 6, arbitrary: fc.constant((octets: Uint8Array) => octets) },
  {
    weight: 3,
    // By exclusive or: an octet of the id that is set might be the right one, and that of the other side wrong.
    arbitrary: fc.tuple(fc.nat(), fc.nat(255)).map(([at, bits]) => (octets: Uint8Array) => {
      const changed = Uint8Array.from(octets);
      const index = at % octets.length;
      changed[index] = (changed[index] ?? 0) ^ bits;
      return changed;
    }),
  },
  fc.nat(40).map((more) => (octets: Uint8Array) => Uint8Array.of(...octets, ...new Uint8Array(more))),
  fc.nat(60).map((less) => (octets: Uint8Array) => octets.slice(0, Math.max(0, octets.length - less))),
  fc
    .uint8Array({ maxLength: 80 })
    .map((noise) => (octets: Uint8Array) => Uint8Array.of(...octets.slice(0, 2), ...noise)),
);

export const question: fc.Arbitrary<Question> = fc.record({
  name,
  type: fc.constantFrom(TYPE.A, TYPE.AAAA, TYPE.A, TYPE.AAAA, TYPE.TXT),
  edns: fc.option(
    fc.record({
      version: fc.constantFrom(0, 0, 0, 1),
      udpSize: fc.constantFrom(0, 512, 600, 4096),
      dnssecOk: fc.boolean(),
      extendedRcode: fc.constant(0),
      options: fc.constantFrom(
        [],
        [{ code: 3, data: Uint8Array.of(9) }],
        [{ code: 8, data: Uint8Array.of(0, 1, 24, 0, 192, 0, 2) }],
        [
          { code: 10, data: new Uint8Array(8) },
          { code: 12, data: new Uint8Array(40) },
        ],
      ),
    }),
    { nil: undefined },
  ),
  header: fc.record({
    id: fc.nat(0xffff),
    response: fc.constant(false),
    opcode: fc.constant(0),
    rcode: fc.constant(0),
    authoritative: fc.boolean(),
    recursionAvailable: fc.boolean(),
    authenticData: fc.boolean(),
    checkingDisabled: fc.boolean(),
    truncated: fc.integer({ min: 0, max: 9 }).map((one) => one === 0),
    recursionDesired: fc.integer({ min: 0, max: 9 }).map((one) => one > 0),
  }),
});

export const caching: fc.Arbitrary<CachingRules> = fc
  .record({
    minCacheTtl: fc.constantFrom(0, 0, 30, 5000),
    maxCacheTtl: fc.constantFrom(undefined, undefined, 20, 3600),
  })
  .map((bounds) => ({ ...SERVE_CACHING, ...bounds }));

export const makeResolverSettings = (rules: CachingRules, trustsAd: boolean): CachedResolverSettings => ({
  forward: {
    ...DEFAULT_FORWARD_PLAN,
    loopDetection: false,
    hedging: false,
    trustsAd,
    rules: [defaultRule([parseUpstream('192.0.2.53')])],
  },
  cache: { kind: 'own', caching: rules, serveStale: undefined },
  filteredTypes: new Set(),
});

export const encodeQuestion = ({ name: text, type, edns, header }: Question): Uint8Array =>
  encodeMessage({
    header,
    edns,
    questions: [{ name: parseName(text), type, class: 1 }],
    answers: [],
    authorities: [],
    additionals: [],
  });
