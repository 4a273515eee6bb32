import { decodeMessage, encodeMessage } from '@portolan/dns/message.ts';
import { parseName } from '@portolan/dns/name.ts';
import {
  CLASS,
  type Message,
  RCODE,
  type RecordData,
  type ResourceRecord,
  TYPE,
} from '@portolan/dns/types.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TableReader } from '../../table/reader.ts';
import { type CachedAnswer, type CachedEntry, DEFAULT_VIEW } from '../../table/types.ts';
import { TableWriter } from '../../table/writer.ts';
import type { ForwardQuestion } from '../transport/query-message.ts';
import { cacheReply } from './cached-answer.ts';
import { type CachingRules, DNSMASQ_CACHING, judgeKeeping, SERVE_CACHING } from './caching-rules.ts';
import { isWorthPrefetching, staleBody } from './expiry.ts';

const FREE: CachingRules = { ...SERVE_CACHING, maxNegativeTtl: undefined };

const question = (name = 'www.example.', type: number = TYPE.A): ForwardQuestion => ({
  name: parseName(name),
  type,
  class: CLASS.IN,
  dnssecOk: false,
  checkingDisabled: false,
  recursionDesired: true,
});
const record = (name: string, ttl: number, data: RecordData): ResourceRecord => ({
  name: parseName(name),
  class: CLASS.IN,
  ttl,
  data,
});
const a = (ttl: number, address = '192.0.2.1', name = 'www.example.') =>
  record(name, ttl, { kind: 'A', address });
const cname = (ttl: number, target = 'web.example.net.') =>
  record('www.example.', ttl, { kind: 'CNAME', target: parseName(target) });
const soa = (ttl: number, minimum: number) =>
  record('example.', ttl, {
    kind: 'SOA',
    primary: parseName('ns.example.'),
    mailbox: parseName('hostmaster.example.'),
    serial: 1,
    refresh: 2,
    retry: 3,
    expire: 4,
    minimum,
  });

function reply(
  sections: Partial<Pick<Message, 'answers' | 'authorities' | 'additionals'>>,
  changes: Partial<Message['header']> = {},
): Message {
  const flags = { authoritative: true, truncated: false, authenticData: true, checkingDisabled: false };
  const header = {
    id: 1,
    response: true,
    opcode: 0,
    recursionDesired: true,
    recursionAvailable: true,
    rcode: 0,
  };
  const empty = { questions: [], answers: [], authorities: [], additionals: [], edns: undefined };
  return { header: { ...flags, ...header, ...changes }, ...empty, ...sections };
}

const seconds = (message: Message, rules: Partial<CachingRules> = {}, type: number = TYPE.A) => {
  const keeping = judgeKeeping(question('www.example.', type), message, { ...FREE, ...rules });
  return keeping.kind === 'never' ? 'never' : `${keeping.kind} ${keeping.seconds}`;
};

describe('how long a positive reply is kept', () => {
  it('for the least TTL of its answer section, CNAMEs included', () => {
    expect(seconds(reply({ answers: [a(300), a(60, '192.0.2.2')] }))).toBe('positive 60');
    expect(seconds(reply({ answers: [cname(30), a(300, '192.0.2.1', 'web.example.net.')] }))).toBe(
      'positive 30',
    );
    expect(seconds(reply({ answers: [a(300)], additionals: [a(5, '192.0.2.3', 'x.example.')] }))).toBe(
      'positive 300',
    );
  });

  it('within the bounds that are configured', () => {
    const message = reply({ answers: [a(300)] });
    expect(seconds(message, { maxCacheTtl: 100 })).toBe('positive 100');
    expect(seconds(message, { minCacheTtl: 600 })).toBe('positive 600');
    expect(seconds(message, { minCacheTtl: 99_999 })).toBe('positive 3600');
    expect(seconds(message, { minCacheTtl: 200, maxCacheTtl: 100 })).toBe('positive 200');
    expect(seconds(reply({ answers: [a(0)] }))).toBe('never');
    expect(seconds(reply({ answers: [a(0)] }), { minCacheTtl: 5 })).toBe('positive 5');
  });
});

describe('how long a negative reply is kept (RFC 2308)', () => {
  it('for the lesser of the TTL and the minimum of its SOA record', () => {
    expect(seconds(reply({ authorities: [soa(300, 60)] }))).toBe('negative 60');
    expect(seconds(reply({ authorities: [soa(30, 60)] }, { rcode: RCODE.NXDOMAIN }))).toBe('negative 30');
    expect(seconds(reply({ authorities: [soa(0, 60)] }))).toBe('never');
  });

  it('not without one, unless a time is configured', () => {
    expect(seconds(reply({}))).toBe('never');
    expect(seconds(reply({}, { rcode: RCODE.NXDOMAIN }), { negTtl: 45 })).toBe('negative 45');
    expect(seconds(reply({ authorities: [soa(30, 60)] }), { negTtl: 45 })).toBe('negative 30');
    expect(seconds(reply({ authorities: [soa(0, 60)] }), { negTtl: 45 })).toBe('never');
  });

  it('for no longer than the CNAMEs that lead to it', () => {
    expect(seconds(reply({ answers: [cname(10)], authorities: [soa(300, 60)] }))).toBe('negative 10');
  });

  it('5 s at most in `serve`, and not at all where that is configured', () => {
    const message = reply({ authorities: [soa(300, 60)] });
    expect(seconds(message, SERVE_CACHING)).toBe('negative 5');
    expect(seconds(message, DNSMASQ_CACHING)).toBe('negative 60');
    expect(seconds(message, { negativeCaching: false })).toBe('never');
  });
});

describe('what is never kept', () => {
  it('truncated replies, other classes, questions for many types, errors about the query', () => {
    expect(seconds(reply({ answers: [a(300)] }, { truncated: true }))).toBe('never');
    expect(seconds(reply({ answers: [a(300)] }), {}, TYPE.ANY)).toBe('never');
    for (const rcode of [RCODE.FORMERR, RCODE.NOTIMP, RCODE.REFUSED])
      expect(seconds(reply({}, { rcode }))).toBe('never');
    const chaos = judgeKeeping({ ...question(), class: CLASS.CH }, reply({ answers: [a(300)] }), FREE);
    expect(chaos.kind).toBe('never');
    const edns = { version: 0, udpSize: 1232, dnssecOk: false, extendedRcode: 1, options: [] };
    expect(seconds({ ...reply({ answers: [a(300)] }), edns })).toBe('never');
  });

  it('failures for more than 5 s (RFC 9520)', () => {
    expect(seconds(reply({}, { rcode: RCODE.SERVFAIL }))).toBe('failure 5');
    expect(seconds(reply({}, { rcode: RCODE.SERVFAIL }), { failureTtl: 60 })).toBe('failure 5');
    expect(seconds(reply({}, { rcode: RCODE.SERVFAIL }), DNSMASQ_CACHING)).toBe('never');
  });
});

/** The response from the table, `after` seconds after it was stored. */
function fromTable(answer: CachedAnswer, asked: ForwardQuestion, after = 0): Message | undefined {
  const table = new TableWriter({ readers: 1, reservation: 16 * 2 ** 20, cacheOctets: 1 << 20 });
  table.cache(answer, 1_000_000);
  const reader = new TableReader(table.memory, 0);
  reader.setTime(1_000_000 + after * 1000);
  const header = { ...reply({}).header, response: false, authoritative: false, authenticData: false };
  const { name, type, class: dnsClass } = asked;
  const query: Message = { ...reply({}), header, questions: [{ name, type, class: dnsClass }] };
  const packet = new Uint8Array(65_535 + 64);
  const octets = encodeMessage(query);
  packet.set(octets);
  const length = reader.answer(packet, 0, octets.length, packet.length, 'tcp');
  return length > 0 ? decodeMessage(packet.subarray(0, length)) : undefined;
}

const keep = (message: Message, rules: CachingRules = FREE, asked = question()) => {
  const answer = cacheReply(asked, message, rules, 7)?.answer;
  if (answer === undefined) throw new Error('not kept');
  return answer;
};

describe('a kept answer', () => {
  it('comes out of the table as it came in, its TTLs counted down', () => {
    const answers = [cname(100), a(300, '192.0.2.1', 'web.example.net.')];
    const answer = keep(reply({ answers }));
    expect(answer).toMatchObject({ lifetime: 100, outcome: 7, recursionAvailable: true });
    const out = fromTable(answer, question('WWW.example.'), 40);
    expect(out?.header).toMatchObject({ rcode: 0, authoritative: false, recursionAvailable: true });
    expect(out?.answers).toEqual([
      { ...cname(60), name: 'WWW.example.' },
      a(260, '192.0.2.1', 'web.example.net.'),
    ]);
    expect(fromTable(answer, question(), 100)).toBeUndefined();
  });

  it('says why there is nothing, with the SOA record', () => {
    const answer = keep(reply({ authorities: [soa(300, 60)] }, { rcode: RCODE.NXDOMAIN }));
    const out = fromTable(answer, question(), 10);
    expect(out?.header.rcode).toBe(RCODE.NXDOMAIN);
    expect(out?.authorities).toEqual([soa(50, 60)]);
  });

  it('has no name servers, and only additionals that last as long', () => {
    const ns = record('example.', 300, { kind: 'NS', target: parseName('ns.example.') });
    const mx = record('www.example.', 60, {
      kind: 'MX',
      preference: 1,
      exchange: parseName('mail.example.'),
    });
    const additionals = [a(300, '192.0.2.5', 'mail.example.'), a(30, '192.0.2.6', 'mail.example.')];
    const asked = question('www.example.', TYPE.MX);
    const out = fromTable(keep(reply({ answers: [mx], authorities: [ns], additionals }), FREE, asked), asked);
    expect([out?.answers, out?.authorities, out?.additionals]).toEqual([[mx], [], [additionals[0]]]);
  });

  it('keeps DO and CD apart', () => {
    const answer = keep(reply({ answers: [a(60)] }), FREE, { ...question(), dnssecOk: true });
    expect(answer).toMatchObject({ dnssecOk: true, checkingDisabled: false });
    expect(fromTable(answer, question())).toBeUndefined();
  });

  it('rotates a set of addresses, behind CNAMEs too, and nothing else', () => {
    const set = (name: string) => [1, 2, 3].map((last) => a(300, `192.0.2.${last}`, name));
    expect(keep(reply({ answers: set('www.example.') })).body.rotation).toEqual({
      start: 0,
      stride: 16,
      count: 3,
    });
    const behind = keep(reply({ answers: [cname(60), ...set('web.example.net.')] })).body;
    expect(behind.rotation).toMatchObject({ stride: 16, count: 3 });
    expect(keep(reply({ answers: [a(60)] })).body.rotation).toBeUndefined();
    const signed = record('www.example.', 300, { kind: 'unknown', type: 46, bytes: new Uint8Array(20) });
    expect(keep(reply({ answers: [...set('www.example.'), signed] })).body.rotation).toBeUndefined();
  });

  it('has the same records, whichever of a set comes first', () => {
    const octet = fc.integer({ min: 1, max: 254 });
    fc.assert(
      fc.property(
        fc.uniqueArray(octet, { minLength: 1, maxLength: 40 }),
        fc.boolean(),
        (octets, isAliased) => {
          const owner = isAliased ? 'web.example.net.' : 'www.example.';
          const addresses = octets.map((last) => a(300, `192.0.2.${last}`, owner));
          const answers = isAliased ? [cname(300), ...addresses] : addresses;
          const out = fromTable(keep(reply({ answers })), question());
          const show = (records: readonly ResourceRecord[] = []) =>
            records.map((each) => JSON.stringify(each)).sort();
          expect(show(out?.answers)).toEqual(show(answers));
        },
      ),
      { numRuns: 30 },
    );
  });
});

describe('around the end of its life', () => {
  const entry = (message: Message, used = true): CachedEntry => {
    const answer = keep(message);
    const end = 1000 + answer.lifetime;
    return {
      ...answer,
      view: DEFAULT_VIEW,
      stored: 1000,
      storedAt: 1_000_000,
      expires: end,
      freshUntil: end,
      used,
    };
  };
  const positive = reply({ answers: [cname(100), a(100, '192.0.2.1', 'web.example.net.')] });

  it('a popular answer is fetched again in the last tenth', () => {
    expect(isWorthPrefetching(entry(positive), 1089)).toBe(false);
    expect(isWorthPrefetching(entry(positive), 1090)).toBe(true);
    expect(isWorthPrefetching(entry(positive, false), 1090)).toBe(false);
    expect(isWorthPrefetching(entry(positive), 1100)).toBe(false);
    expect(isWorthPrefetching(entry(reply({ answers: [a(9)] })), 1008)).toBe(false);
    expect(isWorthPrefetching(entry(reply({ authorities: [soa(100, 100)] })), 1095)).toBe(false);
  });

  const STALE = { maxSeconds: 86_400, shownTtl: 30 };

  it('a positive answer may be served stale for a day, with a TTL of 30 (RFC 8767)', () => {
    const old = entry(positive);
    expect(staleBody(old, 1099, STALE)).toBeUndefined();
    expect(staleBody(old, 1100 + 86_401, STALE)).toBeUndefined();
    expect(
      staleBody(old, 1100 + 86_401, { maxSeconds: Number.POSITIVE_INFINITY, shownTtl: 0 }),
    ).toBeDefined();
    const body = staleBody(old, 1100 + 86_400, STALE);
    const out = body && fromTable({ ...old, body }, question());
    expect(out?.answers.map(({ ttl, data }) => [ttl, data.kind])).toEqual([
      [30, 'CNAME'],
      [30, 'A'],
    ]);
    expect(old.body.bytes).toEqual(keep(positive).body.bytes);
  });

  it('a negative one or a failure never', () => {
    for (const message of [
      reply({ authorities: [soa(100, 100)] }, { rcode: RCODE.NXDOMAIN }),
      reply({ answers: [cname(100)], authorities: [soa(100, 100)] }),
      reply({}, { rcode: RCODE.SERVFAIL }),
    ])
      expect(staleBody(entry(message), 2000, STALE)).toBeUndefined();
  });
});
