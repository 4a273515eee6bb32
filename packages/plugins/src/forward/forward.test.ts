import { decodeMessage } from '@portolan/dns/message.ts';
import { parseName, ROOT, toKey } from '@portolan/dns/name.ts';
import { type Message, OPCODE, RCODE } from '@portolan/dns/types.ts';
import { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { Query } from '@portolan/kernel/chain/query.ts';
import { addresses, CLIENT, makeQuery, SOA, told } from '@portolan/kernel/chain/testing/queries.ts';
import { ALL_RESTORED, NOTHING_RESTORED } from '@portolan/kernel/deviations/table.ts';
import { ForwardTally } from '@portolan/kernel/forward/forward-tally.ts';
import { ReaderPath } from '@portolan/kernel/forward/reader-path/reader-path.ts';
import type { Transport } from '@portolan/kernel/forward/transport/transport.ts';
import { expect, it } from 'vitest';
import { compileDirective, type ForwardDirective } from './directive.ts';
import { Forward } from './forward.ts';
import { hedgeRoute } from './options.ts';

const key = (name: string) => toKey(parseName(name));

const RULE: ForwardDirective = {
  from: ROOT,
  upstreams: [],
  except: [],
  forceTcp: false,
  preferUdp: false,
  expire: 10_000,
  maxAge: 0,
  maxIdleConnections: 0,
  readTimeout: 2000,
  maxFails: 2,
  maxConnectAttempts: undefined,
  tls: { certificate: undefined, key: undefined, authorities: undefined, serverName: undefined },
  policy: 'sequential',
  healthCheck: { interval: 500, recursionDesired: true, domain: ROOT },
  maxConcurrent: 0,
  nextRcodes: [],
  nextOnNoData: false,
  failoverRcodes: [],
  failsFast: false,
  dohMethod: 'POST',
  sourceAddress: undefined,
  resolvers: [],
};

/** A server's reaction to a query: a response code, no reply at all, or an error of the network. */
type Script = (protocol: 'udp' | 'tcp', query: Message) => number | 'silence' | 'ECONNREFUSED';

interface Seen {
  readonly server: string;
  readonly protocol: 'udp' | 'tcp';
  readonly query: Message;
}

/** Servers by their addresses. `seen` holds queries of clients, without health checks. */
async function forwardTo(
  rules: readonly (Partial<ForwardDirective> & { readonly hedges?: boolean })[],
  servers: Readonly<Record<string, Script>>,
  restored = NOTHING_RESTORED,
) {
  const clock = new ManualClock();
  const log = new RecordingLog();
  const seen: Seen[] = [];
  const transport = (server: string, protocol: 'udp' | 'tcp'): Transport => ({
    dropped: { strange: 0, otherQuestion: 0, otherCase: 0 },
    close() {},
    ask({ octets }, events) {
      const query = decodeMessage(octets);
      if (query.questions[0]?.name !== '.') seen.push({ server, protocol, query });
      const said = servers[server]?.(protocol, query) ?? 'silence';
      if (said === 'ECONNREFUSED') queueMicrotask(() => events.failed(said));
      else if (said !== 'silence') {
        const header = { ...query.header, response: true, recursionAvailable: true, rcode: said };
        queueMicrotask(() => events.replied({ ...query, header }, octets.length));
      }
      return { overdue() {}, cancel() {} };
    },
  });
  const routes = rules.map(({ hedges, ...rule }) => {
    const route = compileDirective({ ...RULE, ...rule });
    return hedges === undefined ? route : hedgeRoute(route, hedges);
  });
  const forward = new Forward(
    { routes },
    {
      restored,
      clock,
      metrics: new MetricRegistry(),
      forwardTally: new ForwardTally(),
      readerPath: new ReaderPath(1, clock),
      resolveName: () => Promise.reject(new Error('no names')),
      log,
      isOurselves: (address, port) => address === '127.0.0.53' && port === 53,
      random: () => 0,
      tap: (_, { address }, protocol) => transport(address, protocol),
    },
  );
  await forward.start();
  const askWith = (query: Query) =>
    Promise.resolve(forward.handler.handle(query, () => addresses(query.question.name, '192.0.2.9')));
  const ask = (name: string) => askWith(makeQuery(name));
  return { clock, log, seen, ask, askWith, asked: () => seen.map(({ server }) => server) };
}

const at = (address: string) =>
  ({ kind: 'address', scheme: 'dns', address, port: 53, serverName: undefined }) as const;

it('sends each query on as it came, and its reply back as it is, where that is restored', async () => {
  const refusing = { '192.0.2.1': () => RCODE.REFUSED };
  const { ask, seen } = await forwardTo([{ upstreams: [at('192.0.2.1')] }], refusing, ALL_RESTORED);
  const answers = await Promise.all([ask('WwW.example.'), ask('WwW.example.')]);
  expect(answers[0]).toMatchObject({ kind: 'message', rcode: RCODE.REFUSED, recursionAvailable: true });
  expect(seen.map(({ query, protocol }) => [query.questions[0]?.name, query.edns, protocol])).toEqual([
    ['WwW.example.', undefined, 'udp'],
    ['WwW.example.', undefined, 'udp'],
  ]);
});

it.each([
  [NOTHING_RESTORED, true],
  [new Set(['shares-of-clients'] as const), false],
])(
  'refuses one client thousands of questions in flight, unless any number is restored',
  async (restored, refuses) => {
    const { ask } = await forwardTo([{ upstreams: [at('192.0.2.1')] }], {}, restored);
    let refused = 0;
    for (let count = 0; count < 4000; count += 1)
      void ask(`${count}.example.`).then(({ kind }) => {
        refused += kind === 'overloaded' ? 1 : 0;
      });
    await new Promise((resolve) => setImmediate(resolve));
    expect(refused > 0).toBe(refuses);
  },
);

it.each([
  ['forward-equal-questions', ['www.example.', 'www.example.']],
  ['own-query', ['WwW.example.']],
] as const)('restores %s alone', async (id, names) => {
  const refusing = { '192.0.2.1': () => RCODE.REFUSED };
  const { ask, seen } = await forwardTo([{ upstreams: [at('192.0.2.1')] }], refusing, new Set([id]));
  await Promise.all([ask('WwW.example.'), ask('WwW.example.')]);
  expect(seen.map(({ query }) => query.questions[0]?.name)).toEqual(names);
});

it('asks once for equal questions, and answers each with the reply', async () => {
  const { ask, seen } = await forwardTo([{ upstreams: [at('192.0.2.1')] }], {
    '192.0.2.1': () => RCODE.REFUSED,
  });
  const answers = await Promise.all([ask('WwW.example.'), ask('www.example.')]);
  for (const answer of answers)
    expect(answer).toMatchObject({ kind: 'message', rcode: RCODE.REFUSED, recursionAvailable: true });
  expect(seen.map(({ query, protocol }) => [query.questions[0]?.name, protocol])).toEqual([
    ['www.example.', 'udp'],
  ]);
});

it('asks once for equal queries with EDNS options, and passes these on as they came', async () => {
  const { askWith, seen } = await forwardTo([{ upstreams: [at('192.0.2.1')] }], {
    '192.0.2.1': () => RCODE.NOERROR,
  });
  const withOption = (...data: number[]) => {
    const { question, header } = makeQuery('WwW.example');
    const options = [{ code: 65_001, data: Uint8Array.from(data) }];
    const edns = { udpSize: 1400, version: 0, dnssecOk: false, extendedRcode: 0, options };
    return askWith(new Query(question, { question, header, edns }, CLIENT));
  };
  await Promise.all([withOption(1), withOption(1), withOption(2)]);
  expect(
    seen.map(({ query }) => [query.questions[0]?.name, query.edns?.udpSize, query.edns?.options]),
  ).toEqual([
    ['www.example.', 1232, [{ code: 65_001, data: Uint8Array.of(1) }]],
    ['www.example.', 1232, [{ code: 65_001, data: Uint8Array.of(2) }]],
  ]);
});

it('asks by the protocol of the client, where that is restored', async () => {
  const { askWith, seen } = await forwardTo(
    [{ upstreams: [at('192.0.2.1')] }],
    { '192.0.2.1': () => RCODE.NOERROR },
    new Set(['own-query']),
  );
  const { question, header } = makeQuery('a.example');
  await askWith(new Query(question, { question, header, edns: undefined }, { ...CLIENT, transport: 'tcp' }));
  await askWith(new Query(question, { question, header, edns: undefined }, CLIENT));
  expect(seen.map(({ protocol }) => protocol)).toEqual(['tcp', 'udp']);
});

it('asks another server when the first is overdue, long before its client gives up', async () => {
  const rule = { upstreams: [at('192.0.2.1'), at('192.0.2.2')] };
  const { ask, clock, asked } = await forwardTo([rule], {
    '192.0.2.1': () => 'silence',
    '192.0.2.2': () => RCODE.NOERROR,
  });
  const answer = ask('a.example.');
  for (let step = 0; step < 5; step += 1) clock.advance(100);
  expect(await answer).toMatchObject({ kind: 'message', rcode: RCODE.NOERROR });
  // The first one once more without EDNS, which something on the way may drop.
  expect(asked()).toEqual(['192.0.2.1', '192.0.2.2', '192.0.2.1']);
});

it.each([true, undefined])(
  'asks in order, and a second server while the first is late: %s',
  async (hedges) => {
    const rule = { upstreams: [at('192.0.2.1'), at('192.0.2.2')], ...(hedges && { hedges }) };
    let isSilent = false;
    const { ask, clock, asked } = await forwardTo([rule], {
      '192.0.2.1': () => (isSilent ? 'silence' : RCODE.NOERROR),
      '192.0.2.2': () => RCODE.NOERROR,
    });
    // Hedges have a budget, which questions add to.
    for (let index = 0; index < 200; index += 1) await ask(`n${index}.example.`);
    isSilent = true;
    const { length } = asked();
    void ask('slow.example.');
    for (let step = 0; step < 15; step += 1) clock.advance(20);
    await new Promise((resolve) => setImmediate(resolve));
    // Without hedges it is asked after 400 ms.
    expect(asked().slice(length).includes('192.0.2.2')).toBe(hedges === true);
  },
);

it('says in the end that nothing came, as CoreDNS does', async () => {
  const { ask, clock } = await forwardTo([{ upstreams: [at('127.0.0.1')] }], {
    '127.0.0.1': () => 'silence',
  });
  const answer = ask('a.example.');
  for (let second = 0; second < 6; second += 1) clock.advance(1000);
  const failed = await answer;
  expect(failed.kind === 'servfail' && failed.reason).toMatch(
    /^read udp 127\.0\.0\.1:\d+->127\.0\.0\.1:53: i\/o timeout$/,
  );
});

it('fails at once while all servers refuse, and takes them back with the first reply', async () => {
  let isDead = true;
  const rule = { upstreams: [at('127.0.0.1')] };
  const { ask, clock } = await forwardTo([rule], { '127.0.0.1': () => (isDead ? 'ECONNREFUSED' : 0) });
  const first = ask('a.');
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  for (let step = 0; step < 60; step += 1) {
    clock.advance(100);
    await settle();
  }
  expect((await first).kind).toBe('servfail');
  // Each query tests the server, and the error of the network is enough.
  for (const name of ['b.', 'c.']) expect((await ask(name)).kind).toBe('servfail');
  isDead = false;
  expect(await ask('d.')).toMatchObject({ kind: 'message', rcode: 0 });
});

it('passes on names that no rule is for', async () => {
  const rule = { from: key('example.'), except: [key('b.example.')], upstreams: [at('192.0.2.1')] };
  const { ask, asked } = await forwardTo([rule], { '192.0.2.1': () => RCODE.NOERROR });
  expect(told(await ask('other.'))).toEqual(['records', 'other. 30 IN A 192.0.2.9']);
  expect(told(await ask('x.b.example.'))).toEqual(['records', 'x.b.example. 30 IN A 192.0.2.9']);
  expect((await ask('a.example.')).kind).toBe('message');
  expect(asked()).toEqual(['192.0.2.1']);
});

it('asks the next rule after the codes that a rule says, and no other', async () => {
  const first = { upstreams: [at('192.0.2.1')], nextRcodes: [RCODE.NXDOMAIN] };
  const { ask, asked } = await forwardTo([first, { upstreams: [at('192.0.2.2')] }], {
    '192.0.2.1': (_, { questions }) => (questions[0]?.name === 'nx.' ? RCODE.NXDOMAIN : RCODE.SERVFAIL),
    '192.0.2.2': () => RCODE.NOERROR,
  });
  expect(await ask('nx.')).toMatchObject({ rcode: RCODE.NOERROR });
  expect(await ask('other.')).toMatchObject({ rcode: RCODE.SERVFAIL });
  expect(asked()).toEqual(['192.0.2.1', '192.0.2.2', '192.0.2.1']);
});

it('tries another server at once after an error, and says in the end what was wrong, where that is restored', async () => {
  const upstreams = [at('127.0.0.1'), at('127.0.0.2')];
  const servers: Record<string, Script> = { '127.0.0.1': () => 'ECONNREFUSED', '127.0.0.2': () => 0 };
  const { ask, asked } = await forwardTo([{ upstreams }], servers, new Set(['sends-again']));
  expect(await ask('a.')).toMatchObject({ kind: 'message' });
  expect(asked()).toEqual(['127.0.0.1', '127.0.0.2']);
  const dead = await forwardTo([{ upstreams: [at('127.0.0.1')] }], servers, new Set(['sends-again']));
  const answer = await dead.ask('a.');
  expect(answer.kind === 'servfail' && answer.reason).toMatch(
    /^read udp 127\.0\.0\.1:\d+->127\.0\.0\.1:53: read: connection refused$/,
  );
  expect(dead.asked()).toHaveLength(2);
});

it('refuses what exceeds the queries under way at once', async () => {
  const rule = { upstreams: [at('127.0.0.1')], maxConcurrent: 1, maxConnectAttempts: 1 };
  const { ask, clock } = await forwardTo([rule], { '127.0.0.1': () => 'silence' });
  const first = ask('a.');
  expect(await ask('b.')).toEqual({ kind: 'overloaded', reason: 'concurrent queries exceeded maximum 1' });
  clock.advance(2000);
  const answer = await first;
  expect(answer.kind === 'servfail' && answer.reason).toMatch(/: i\/o timeout$/);
});

it('leaves a server out after failed checks, and takes it back after one reply, where that is restored', async () => {
  let isDead = true;
  const rule = { upstreams: [at('127.0.0.1')], maxFails: 1, failsFast: true };
  const { ask, clock, asked } = await forwardTo(
    [rule],
    { '127.0.0.1': () => (isDead ? 'ECONNREFUSED' : 0) },
    new Set(['sends-again']),
  );
  const pass = async () => {
    clock.advance(500);
    await new Promise((resolve) => setImmediate(resolve));
  };
  await ask('a.');
  const before = asked().length;
  for (let round = 0; round < 3; round += 1) await pass();
  expect(await ask('b.')).toEqual({ kind: 'servfail', reason: 'no healthy proxies', extendedError: 22 });
  expect(asked()).toHaveLength(before);
  isDead = false;
  await pass();
  expect(await ask('c.')).toMatchObject({ kind: 'message', rcode: 0 });
});

it('asks the next server after the codes of failover, and gives the last answer', async () => {
  const rule = { upstreams: [at('192.0.2.1'), at('192.0.2.2')], failoverRcodes: [RCODE.SERVFAIL] };
  const { ask, asked } = await forwardTo([rule], {
    '192.0.2.1': () => RCODE.SERVFAIL,
    '192.0.2.2': () => RCODE.SERVFAIL,
  });
  expect(await ask('a.')).toMatchObject({ kind: 'message', rcode: RCODE.SERVFAIL });
  expect(asked()).toEqual(['192.0.2.1', '192.0.2.2']);
});

it('asks by the protocol that the rule says', async () => {
  const servers = { '192.0.2.1': () => 0 };
  const protocols = async (rule: Partial<ForwardDirective>) => {
    const { ask, seen } = await forwardTo([{ upstreams: [at('192.0.2.1')], ...rule }], servers);
    await ask('a.');
    return seen.map(({ protocol }) => protocol);
  };
  expect(await protocols({ forceTcp: true, preferUdp: true })).toEqual(['tcp']);
  expect(await protocols({ preferUdp: true })).toEqual(['udp']);
});

it('leaves out servers of a file that are this one, and says so', async () => {
  const folder = await makeTemporaryFolder();
  const path = await folder.write('resolv.conf', 'nameserver 127.0.0.53\nnameserver 192.0.2.1\n');
  const { ask, asked, log } = await forwardTo([{ upstreams: [{ kind: 'file', path }] }], {
    '127.0.0.53': () => RCODE.SERVFAIL,
    '192.0.2.1': () => RCODE.NOERROR,
  });
  await ask('a.example.');
  expect(asked()).toEqual(['192.0.2.1']);
  expect(log.records).toEqual([
    expect.objectContaining({
      level: 'warn',
      message: `plugin/forward: ${path} names 127.0.0.53, which is this server: it is left out, 1 others are asked. Name the servers of the network.`,
    }),
  ]);
});

it('sends NOTIFY on as it came, and notes the server that replied', async () => {
  const { askWith, seen } = await forwardTo([{ upstreams: [at('192.0.2.1')] }], {
    '192.0.2.1': () => RCODE.NOERROR,
  });
  const { question, header } = makeQuery('a.test', 'SOA');
  const notify = new Query(
    question,
    { question, header: { ...header, opcode: OPCODE.NOTIFY }, edns: undefined, answers: [SOA] },
    CLIENT,
  );
  notify.collectMetadata();
  await askWith(notify);
  expect(seen.map(({ query }) => [query.header.opcode, query.answers])).toEqual([[OPCODE.NOTIFY, [SOA]]]);
  expect(notify.metadata('forward/upstream')).toBe('192.0.2.1:53');
});
