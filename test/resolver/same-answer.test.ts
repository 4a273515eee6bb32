/**
 * Cached answers both ways: the table and the chain give the same answer, and the first client's answer is the same too.
 */
import { decodeMessage, encodeMessage } from '@portolan/dns/message.ts';
import { parseName, toKey } from '@portolan/dns/name.ts';
import {
  CLASS,
  type Message,
  RCODE,
  type RecordData,
  type ResourceRecord,
  TYPE,
} from '@portolan/dns/types.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { CLIENT, QUERY_HEADER } from '@portolan/kernel/chain/testing/queries.ts';
import { answerByChain } from '@portolan/kernel/engine/server-blocks/testing/one-block.ts';
import { SERVE_CACHING } from '@portolan/kernel/forward/caching/caching-rules.ts';
import { DEFAULT_FORWARD_PLAN, defaultRule } from '@portolan/kernel/forward/forward-plan.ts';
import { parseUpstream } from '@portolan/kernel/forward/upstream-address.ts';
import { TableReader } from '@portolan/kernel/table/reader.ts';
import { TableWriter } from '@portolan/kernel/table/writer.ts';
import { RFC_8767 } from '@portolan/plugins/cache/options.ts';
import { type UpstreamName, UpstreamNames } from '@portolan/testing/upstream/upstream-names.ts';
import { VirtualUpstream } from '@portolan/testing/upstream/virtual-upstream.ts';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { recordMessage } from '../golden/recorded-answer.ts';
import { CachedResolver } from './cached-resolver.ts';

const { A, AAAA, CNAME, TXT, MX, SRV } = TYPE;
const NAMES = ['a.example.', 'b.example.', 'c.b.example.', 'long-label-of-a-name.other.example.', 'example.'];
const arbitraryName = fc.constantFrom(...NAMES);
const arbitraryTtl = fc.constantFrom(0, 1, 5, 12, 60, 86_400);

const arbitraryData: fc.Arbitrary<RecordData> = fc.oneof(
  fc.nat(255).map((last) => ({ kind: 'A', address: `192.0.2.${last}` }) as const),
  fc.nat(255).map((last) => ({ kind: 'AAAA', address: `2001:db8::${last.toString(16)}` }) as const),
  arbitraryName.map((name) => ({ kind: 'CNAME', target: parseName(name) }) as const),
  arbitraryName.map((name) => ({ kind: 'MX', preference: 10, exchange: parseName(name) }) as const),
  fc.string({ maxLength: 20 }).map((text) => ({ kind: 'TXT', strings: [Buffer.from(text)] }) as const),
);

const arbitraryKnowledge: fc.Arbitrary<
  Omit<UpstreamName, 'authorities'> & { readonly soa: number | undefined }
> = fc.record({
  rcode: fc.constantFrom(RCODE.NOERROR, RCODE.NOERROR, RCODE.NOERROR, RCODE.NXDOMAIN, RCODE.SERVFAIL),
  answers: fc.array(
    fc.record({
      name: fc.constant(parseName('x.')),
      class: fc.constant(CLASS.IN),
      ttl: arbitraryTtl,
      data: arbitraryData,
    }),
    { maxLength: 5 },
  ),
  soa: fc.option(arbitraryTtl, { nil: undefined }),
});

const arbitrarySetting = fc.record({
  world: fc.tuple(...NAMES.map(() => arbitraryKnowledge)),
  questions: fc.array(
    fc.record({
      name: arbitraryName,
      type: fc.constantFrom(A, A, AAAA, CNAME, TXT, MX, SRV),
      dnssecOk: fc.boolean(),
      wait: fc.constantFrom(0, 0, 700, 1000, 4000, 30_000),
    }),
    { minLength: 20, maxLength: 20 },
  ),
  caching: fc.constantFrom(
    SERVE_CACHING,
    { ...SERVE_CACHING, minCacheTtl: 3, maxCacheTtl: 20 },
    { ...SERVE_CACHING, negTtl: 10, maxCacheTtl: 30 },
    { ...SERVE_CACHING, negativeCaching: false, failureTtl: 0 },
  ),
  maxTtl: fc.constantFrom(undefined, undefined, 7),
  hidden: fc.constantFrom<(readonly number[])[]>([], [], [AAAA], [A, TXT]),
});

function makeSoa(owner: string, ttl: number): ResourceRecord {
  const name = parseName(owner);
  const numbers = { serial: 1, refresh: 2, retry: 3, expire: 4, minimum: ttl };
  return { name, class: CLASS.IN, ttl, data: { kind: 'SOA', primary: name, mailbox: name, ...numbers } };
}

interface Asked {
  readonly name: string;
  readonly type: number;
  readonly dnssecOk: boolean;
}

function encodeQuery({ name, type, dnssecOk }: Asked): Uint8Array {
  const edns = { version: 0, udpSize: 4096, dnssecOk, extendedRcode: 0, options: [] };
  const query: Message = {
    header: QUERY_HEADER,
    questions: [{ name: parseName(name), type, class: CLASS.IN }],
    answers: [],
    authorities: [],
    additionals: [],
    edns,
  };
  return encodeMessage(query);
}

it('for any replies of upstream servers, from any client, at any time', { timeout: 60_000 }, async () => {
  let byBoth = 0;
  let withRecords = 0;
  await fc.assert(
    fc.asyncProperty(arbitrarySetting, async ({ world, questions, caching, maxTtl, hidden }) => {
      const clock = new ManualClock();
      const known = new UpstreamNames();
      const upstream = new VirtualUpstream(clock, known.react);
      for (const [index, { rcode, answers, soa }] of world.entries()) {
        const owner = NAMES[index] ?? '';
        const own = answers.map((record) => ({ ...record, name: parseName(owner) }));
        const authorities = soa === undefined ? [] : [makeSoa(owner, soa)];
        known.known.set(toKey(parseName(owner)), { rcode, answers: own, authorities });
      }
      const table = new TableWriter({ readers: 1, reservation: 32 * 2 ** 20, seed: 7, maxTtl });
      const rules = [defaultRule([parseUpstream('192.0.2.53')])];
      const resolver = new CachedResolver(
        {
          forward: { ...DEFAULT_FORWARD_PLAN, loopDetection: false, rules },
          cache: { kind: 'own', caching, maxTtl, refreshesUsed: true, serveStale: RFC_8767 },
          filteredTypes: new Set(hidden),
        },
        {
          table,
          clock,
          log: silentLog,
          connect: () => upstream,
          resolveName: () => Promise.reject(new Error('no names here')),
        },
      );
      resolver.start();
      const slowly = answerByChain((query) => resolver.answer(query), silentLog);
      const reader = new TableReader(table.memory, 0);
      const packet = new Uint8Array(65_535);
      const askTable = (octets: Uint8Array): Message | undefined => {
        reader.setTime(clock.monotonic());
        packet.set(octets);
        const length = reader.answer(packet, 0, octets.length, packet.length, 'tcp');
        return length > 0 ? decodeMessage(packet.slice(0, length)) : undefined;
      };
      const askChain = async (octets: Uint8Array): Promise<Message> => {
        let response: Uint8Array | undefined;
        const answered = slowly(octets, { ...CLIENT, transport: 'tcp' }).then((octetsOfResponse) => {
          response = octetsOfResponse;
        });
        for (let turn = 0; turn < 5 && response === undefined; turn += 1) {
          clock.advance(0);
          await new Promise((resolve) => setImmediate(resolve));
        }
        await answered;
        if (response === undefined) throw new Error('no response');
        return decodeMessage(response);
      };
      for (const { wait, ...asked } of questions) {
        clock.advance(wait);
        await new Promise((resolve) => setImmediate(resolve));
        const octets = encodeQuery(asked);
        const before = askTable(octets);
        const byChain = await askChain(octets);
        const byTable = before ?? askTable(octets);
        if (byTable === undefined) continue;
        byBoth += 1;
        if (byTable.answers.length > 0) withRecords += 1;
        expect(recordMessage(byTable)).toEqual(recordMessage(byChain));
        expect(byTable.header).toEqual(byChain.header);
      }
      resolver.stop();
    }),
    { numRuns: 300 },
  );
  expect(byBoth).toBeGreaterThan(150);
  expect(withRecords).toBeGreaterThan(50);
});
