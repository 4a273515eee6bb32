import { encodeMessage } from '@portolan/dns/message.ts';
import { encodeName, parseName, ROOT, toKey } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import { QueryEventReader } from '@portolan/kernel/listen/query-events/event-reader.ts';
import { EVENT_MODE } from '@portolan/kernel/listen/query-events/event-ring.ts';
import { QueryEventRings } from '@portolan/kernel/listen/query-events/event-rings.ts';
import { describe, expect, it } from 'vitest';
import type { QueryLogSettings } from '../../plan/query-log-plan.ts';
import type { LineRules, QueryLine } from './event-lines.ts';
import type { ExplainEvents } from './explained-event.ts';
import { QueryLogConsumer } from './query-log-consumer.ts';

const ALL: QueryLogSettings = { format: 'text', sample: 1, zones: [], rcodes: [], clients: [] };
/** The start of the monotonic clock in these tests. */
const EPOCH = Date.UTC(2026, 0, 2, 3, 4, 5);
const NXDOMAIN = 3;

const linesIn = (octets: Uint8Array) => Buffer.from(octets).toString().split('\n').slice(0, -1);

const makeSources = ({ all }: QueryEventRings, lines?: LineRules) => all.map((memory) => ({ memory, lines }));

interface Answered {
  readonly name: string;
  readonly rcode?: number;
  readonly client?: string;
  readonly received?: number;
}

/** The lines for given answers, with a sample drawn from `draws`. */
function collectLines(
  answered: readonly Answered[],
  settings: Partial<QueryLogSettings> = {},
  draws: readonly number[] = [],
): readonly string[] {
  const rings = new QueryEventRings(0);
  rings.setMode(EVENT_MODE.QUERIES);
  const lines: string[] = [];
  let drawn = 0;
  const consumer = new QueryLogConsumer({
    sources: makeSources(rings),
    settings: { ...ALL, ...settings },
    write: (octets) => lines.push(...linesIn(octets)),
    now: () => EPOCH + 1_000,
    monotonic: () => 1_000,
    random: () => draws[drawn++] ?? 0,
  });
  for (const { name, rcode = 0, client = '192.0.2.7', received = 0.25 } of answered) {
    const query = queryFor(name);
    const response = Uint8Array.from(query);
    response[2] = 0x85;
    response[3] = 0x80 | rcode;
    const about = { received, source: 'table', transport: 'udp' } as const;
    rings.main.add(query, response, { address: client, port: 4_000 }, about);
  }
  consumer.finish();
  return lines;
}

function queryFor(name: string): Uint8Array {
  const query = new Uint8Array([...new Array(12).fill(0), ...encodeName(parseName(name)), 0, 1, 0, 1]);
  query.set([0x12, 0x34, 0x01, 0x20, 0, 1]);
  return query;
}

const namesIn = (lines: readonly string[]) => lines.map((line) => / name=(\S+)/.exec(line)?.[1]);

describe('a line', () => {
  it('as text tells who asked what, and what was answered', () => {
    const [line] = collectLines([{ name: 'Web.Test.', rcode: NXDOMAIN }]);
    expect(line?.replace(/ duration=\S+/, '')).toBe(
      '2026-01-02T03:04:05.000250Z INFO  query client=192.0.2.7:4000 transport=udp name=Web.Test. type=A id=4660 ' +
        'queryFlags=rd,ad queryBytes=26 rcode=NXDOMAIN flags=aa,rd,ra answers=0 bytes=26 source=table',
    );
  });

  it('as JSON has the same fields', () => {
    const [line] = collectLines([{ name: 'web.test.', client: '2001:db8::1' }], { format: 'json' });
    expect(line).toMatch(/^\{"time":"2026-01-02T03:04:05\.000250Z","level":"info","message":"query",/);
    expect(JSON.parse(line ?? '')).toMatchObject({
      client: '[2001:db8::1]:4000',
      name: 'web.test.',
      type: 'A',
      rcode: 'NOERROR',
    });
  });

  it('cannot be forged by a name', () => {
    const [line] = collectLines([{ name: '\\010x\\032rcode=NXDOMAIN.test.' }]);
    expect(line?.split('\n')).toHaveLength(1);
    expect(line).toContain('name="\\\\010x\\\\032rcode=NXDOMAIN.test."');
  });
});

describe('the selection', () => {
  const answered = [
    { name: 'a.test.', client: '10.1.0.1' },
    { name: 'B.TEST.', client: '10.2.0.1', rcode: NXDOMAIN },
    { name: 'atest.', client: '10.1.255.255', rcode: 2 },
    { name: 'test.', client: '2001:db8::1' },
  ];

  it.each<[string, Partial<QueryLogSettings>, readonly string[]]>([
    ['zones', { zones: [toKey(parseName('test.'))] }, ['a.test.', 'B.TEST.', 'test.']],
    ['response codes', { rcodes: [NXDOMAIN, 2] }, ['B.TEST.', 'atest.']],
    ['clients', { clients: [{ address: '10.1.0.0', prefix: 16 }] }, ['a.test.', 'atest.']],
    [
      'all of them together',
      {
        zones: [toKey(parseName('test.'))],
        clients: [{ address: '10.0.0.0', prefix: 8 }],
        rcodes: [NXDOMAIN],
      },
      ['B.TEST.'],
    ],
  ])('is by %s', (_what, settings, names) => {
    expect(namesIn(collectLines(answered, settings))).toEqual(names);
  });

  it('takes one in so many at random', () => {
    const lines = collectLines(answered, { sample: 4 }, [0.24, 0.25, 0.9, 0.1]);
    expect(namesIn(lines)).toEqual(['a.test.', 'test.']);
  });
});

it('has no question where a query had none', () => {
  const rings = new QueryEventRings(0);
  rings.setMode(EVENT_MODE.QUERIES);
  const lines: string[] = [];
  const consumer = new QueryLogConsumer({
    sources: makeSources(rings),
    settings: ALL,
    write: (octets) => lines.push(...linesIn(octets)),
    now: () => EPOCH,
    random: Math.random,
  });
  const response = encodeMessage({
    header: {
      id: 1,
      response: true,
      opcode: 0,
      authoritative: false,
      truncated: false,
      rcode: 1,
      recursionDesired: false,
      recursionAvailable: false,
      authenticData: false,
      checkingDisabled: false,
    },
    questions: [],
    answers: [],
    authorities: [],
    additionals: [],
    edns: undefined,
  });
  const about = { received: 1, source: 'table', transport: 'udp' } as const;
  rings.main.add(Uint8Array.of(0, 1, 0), response, { address: '::1', port: 1 }, about);
  consumer.finish();
  expect(lines.join('')).toMatch(/ client=\[::1\]:1 .* rcode=FORMERR /);
  expect(lines.join('')).not.toContain('name=');
});

describe('explanations', () => {
  const makeConsumer = (explain: ExplainEvents) => {
    const rings = new QueryEventRings(0);
    rings.setMode(EVENT_MODE.QUERIES);
    const lines: string[] = [];
    let now = 1_000;
    const consumer = new QueryLogConsumer({
      sources: makeSources(rings),
      settings: ALL,
      write: (octets) => lines.push(...linesIn(octets)),
      now: () => EPOCH,
      monotonic: () => now,
      random: () => 0,
      explain,
    });
    const answer = (name: string) => {
      const query = queryFor(name);
      const about = { received: now - 100, source: 'table', transport: 'udp' } as const;
      rings.main.add(query, query, { address: '192.0.2.7', port: 4_000 }, about);
    };
    const wait = (milliseconds: number) => {
      now += milliseconds;
    };
    return { consumer, lines, answer, wait };
  };
  const sourcesIn = (lines: readonly string[]) =>
    lines.map((line) => / (source=\S+(?: reason=\S+)?)/.exec(line)?.[1]);

  it('are asked for once a question, and lines keep their order', async () => {
    const asked: number[] = [];
    const { consumer, lines, answer } = makeConsumer(async (events) => {
      asked.push(events.length);
      return events.map(() => ({ source: 'cluster', reason: 'no-such-service' }));
    });
    for (const name of ['a.example.', 'A.example.', 'b.example.']) answer(name);
    consumer.poll();
    expect(lines).toEqual([]);
    await Promise.resolve();
    await new Promise(setImmediate);
    expect(sourcesIn(lines)).toEqual(new Array(3).fill('source=cluster reason=no-such-service'));
    answer('b.example.');
    consumer.poll();
    expect(lines).toHaveLength(4);
    expect(asked).toEqual([2]);
  });

  it('are not waited for longer than a second, and asked for a few at a time', () => {
    const asked: number[] = [];
    const { consumer, lines, answer, wait } = makeConsumer((events) => {
      asked.push(events.length);
      return new Promise(() => {});
    });
    for (let number = 0; number < 100; number += 1) answer(`n${number}.example.`);
    consumer.poll();
    wait(999);
    consumer.poll();
    expect(lines).toEqual([]);
    wait(1);
    consumer.poll();
    expect(sourcesIn(lines)).toEqual(new Array(100).fill('source=table'));
    expect(asked).toEqual([20]);
  });
});

describe("lines of the server's own log", () => {
  const makeConsumer = (lines: LineRules, settings?: QueryLogSettings, hasSaid = () => true) => {
    const rings = new QueryEventRings(1);
    rings.setMode(EVENT_MODE.RESPONSES);
    const said: QueryLine[] = [];
    const written: string[] = [];
    const consumer = new QueryLogConsumer({
      sources: makeSources(rings, lines),
      settings,
      hasSaid,
      write: (octets) => written.push(...linesIn(octets)),
      say: (batch) => {
        for (const line of batch)
          said.push(...(typeof line === 'string' ? line.split(/\n(?:\[INFO\] )?/) : [line]));
      },
      now: () => EPOCH,
      monotonic: () => 1_000,
      random: () => 0.9,
    });
    const answer = (name: string, received: number) => {
      const query = queryFor(name);
      const response = Uint8Array.from(query);
      response[2] = 0x81;
      response[3] = 0x80 | NXDOMAIN;
      const about = { received, source: 'table', transport: 'udp' } as const;
      rings.main.add(query, response, { address: '192.0.2.7', port: 4_000 }, about);
    };
    return { consumer, rings, said, written, answer };
  };
  const DNSMASQ: LineRules = { kind: 'dnsmasq', isNumbered: true };

  it('and those of the query log come from the same events, each with its selection', () => {
    const { consumer, said, written, answer } = makeConsumer(DNSMASQ, {
      ...ALL,
      zones: [toKey(parseName('b.example.'))],
    });
    for (const [index, name] of ['a.example.', 'b.example.'].entries()) answer(name, index + 1);
    consumer.poll();
    expect(namesIn(written)).toEqual(['b.example.']);
    expect(said).toEqual([
      '1 192.0.2.7/4000 query[A] a.example from 192.0.2.7',
      '1 192.0.2.7/4000 cached a.example is NXDOMAIN',
      '2 192.0.2.7/4000 query[A] b.example from 192.0.2.7',
      '2 192.0.2.7/4000 cached b.example is NXDOMAIN',
    ]);
  });

  it('are all there where the query log has a sample', () => {
    const { consumer, said, written, answer } = makeConsumer(DNSMASQ, { ...ALL, sample: 10 });
    answer('a.example.', 1);
    consumer.poll();
    expect([said.length, written]).toEqual([2, []]);
  });

  it('have notes among them, numbered by query, that are no events', () => {
    const { consumer, rings, said, written, answer } = makeConsumer(DNSMASQ, ALL);
    rings.main.note('x/1 query[A] x', 77);
    answer('a.example.', 2);
    rings.main.note('x/1 reply x', 77);
    consumer.finish();
    expect(said).toEqual([
      expect.stringMatching('^1 .* query'),
      expect.stringMatching('^1 .* cached'),
      '2 x/1 query[A] x',
      '2 x/1 reply x',
    ]);
    expect(namesIn(written)).toEqual(['a.example.']);
  });

  it('stay in the ring while the former ones are not written, and are lost, counted, only when it is full', () => {
    let hasSaid = false;
    const { consumer, rings, said, answer } = makeConsumer(DNSMASQ, undefined, () => hasSaid);
    const reader = new QueryEventReader(rings.ofMain);
    let asked = 0;
    while (reader.dropped === 0) {
      for (let more = 0; more < 10_000; more++) answer('a.example.', 1);
      asked += 10_000;
      consumer.poll();
    }
    expect(said).toEqual([]);
    hasSaid = true;
    consumer.poll();
    consumer.poll();
    consumer.finish();
    expect(said).toHaveLength(2 * (asked - reader.dropped));
  });

  it('follow the rules that were in force at their time', () => {
    const coredns = (format: string): LineRules => {
      const rules = [{ zone: ROOT as NameKey, format, classes: ['all' as const] }];
      return { kind: 'coredns', zones: [[ROOT as NameKey, { rules, address: '', maxUdpSize: 4096 }]] };
    };
    const { consumer, rings, said, answer } = makeConsumer(coredns('old {name} {rcode}'));
    answer('a.example.', 1);
    consumer.follow(makeSources(rings, coredns('new {name} {rcode}')));
    answer('b.example.', 2);
    consumer.poll();
    consumer.follow([]);
    answer('c.example.', 3);
    consumer.finish();
    expect(said).toEqual(['old a.example. NXDOMAIN', 'new b.example. NXDOMAIN']);
  });
});
