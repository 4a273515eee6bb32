/**
 * Readers answer from the cache of a server block as its chain would at the same moment: with any plugins before and after the
 * cache, and after any questions.
 */
import { parseName } from '@portolan/dns/name.ts';
import { type Message, RCODE, type ResourceRecord } from '@portolan/dns/types.ts';
import { compilePlan } from '@portolan/frontends/coredns/settings/testing/compile-plan.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import type { ReceivedQuery } from '@portolan/testing/upstream/received-query.ts';
import { reply } from '@portolan/testing/upstream/reply.ts';
import fc from 'fast-check';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  EDNS_OPTIONS,
  makePacket,
  ReaderSubject,
  SERVER,
  toComparableMessage,
  withOpt,
  withoutAge,
} from './reader-subject.ts';

const SOA = {
  kind: 'SOA',
  primary: parseName('ns.test.'),
  mailbox: parseName('admin.test.'),
  serial: 1,
  refresh: 2,
  retry: 3,
  expire: 4,
  minimum: 20,
} as const;

/** What an upstream says depends on the first label of the name. */
function answer({ query, send }: ReceivedQuery): void {
  const [question] = query.questions;
  if (question === undefined) return;
  const { name } = question;
  const label = name.split('.')[0]?.toLowerCase();
  const of = (data: ResourceRecord['data'], ttl = 60, owner = name) => ({ name: owner, class: 1, ttl, data });
  const address = (last: number, owner = name) =>
    of({ kind: 'A', address: `192.0.2.${last}` }, 60 + last, owner);
  const target = parseName('target.test.');
  const parts: Record<string, () => Partial<Message>> = {
    many: () => ({ answers: [address(1), address(2), address(3)] }),
    alias: () => ({ answers: [of({ kind: 'CNAME', target }, 40), address(1, target), address(2, target)] }),
    missing: () => ({
      header: { ...query.header, response: true, rcode: RCODE.NXDOMAIN },
      answers: [],
      authorities: [of(SOA, 15, parseName('test.'))],
    }),
    failing: () => ({ header: { ...query.header, response: true, rcode: RCODE.SERVFAIL }, answers: [] }),
    refused: () => ({ header: { ...query.header, response: true, rcode: RCODE.REFUSED }, answers: [] }),
    mail: () => ({
      answers: [10, 20].map((preference) =>
        of({ kind: 'MX', preference, exchange: parseName('mx.test.') }, 30),
      ),
    }),
    short: () => ({ answers: [of({ kind: 'A', address: '192.0.2.9' }, 2)] }),
  };
  const made = parts[label ?? '']?.();
  // NXDOMAIN repeats OPT without options, as it came.
  send(reply(query, made ?? { answers: [address(7)] }));
}

async function startUpstream(): Promise<LoopbackUpstream> {
  const upstream = await LoopbackUpstream.start(answer);
  onTestFinished(() => upstream.stop());
  return upstream;
}

const folder = await makeTemporaryFolder(afterAll);
const LINES = [
  `autopath ${await folder.write('search', 'search before.test test\n')}`,
  'dns64 {\n    allow_ipv4\n  }',
  'dns64 {\n    translate_all\n    allow_ipv4\n  }',
  'loadbalance',
  'bufsize 1232',
  'any',
  'local',
  'minimal',
  'rewrite name exact old.test many.test',
  'rewrite name suffix .before.test .test answer auto',
  'rewrite stop name regex (.*)\\.x\\.y\\.test {1}.test answer name (.*)\\.test {1}.x.y.test',
  'rewrite name exact many.test alias.test\n  rewrite name exact alias.test many.test',
  'rewrite ttl exact many.test 10-20',
  'rewrite rcode exact missing.test NXDOMAIN NOERROR',
  'rewrite type AAAA A',
  'header {\n    response set aa\n  }',
  'nsid this server',
  'rewrite edns0 local append 0xffee 0x61',
  'template IN AAAA {\n    rcode NOERROR\n  }',
  'template IN A made.test {\n    answer "{{ .Name }} 50 IN A 198.51.100.1"\n  }',
  'hosts {\n    198.51.100.7 own.test\n    ttl 30\n    fallthrough\n  }',
] as const;
const ACLS = ['', '', '', 'acl {\n    block type AAAA net 192.0.2.0/24\n  }'] as const;
const CACHES = [
  'cache',
  'cache 30',
  'cache 30 before.test made.test',
  'cache {\n    disable success many.test\n  }',
  'cache {\n    disable denial\n  }',
  'cache {\n    prefetch 2 1m 20%\n  }',
  'cache {\n    serve_stale 1h verify\n    servfail 10s\n  }',
  'cache {\n    serve_stale\n    keepttl\n  }',
] as const;
const NAMES = [
  ...['many', 'alias', 'missing', 'failing', 'refused', 'mail', 'short', 'other'].flatMap((name) => [
    `${name}.test`,
    `${name}.before.test`,
  ]),
  'old.test',
  'MANY.x.y.test',
  'made.test',
  'x.made.test',
  'localhost',
  'own.test',
];

/** In the block `hosts`, and in the file of every machine. */
const OF_HOSTS: ReadonlySet<string> = new Set(['own.test', 'localhost']);

/** Few questions, so that most of them come again. */
const steps = fc
  .record({
    names: fc.subarray(NAMES, { minLength: 2, maxLength: 4 }),
    types: fc.subarray(['A', 'AAAA', 'MX', 'ANY'], { minLength: 1, maxLength: 2 }),
  })
  .chain(({ names, types }) =>
    fc.array(
      fc.record({
        name: fc.constantFrom(...names),
        type: fc.constantFrom('A', ...types),
        size: fc.constantFrom(undefined, 4096, 1232, 512),
        options: fc.oneof(fc.constant([]), fc.shuffledSubarray([...EDNS_OPTIONS], { maxLength: 3 })),
        seconds: fc.constantFrom(0, 0, 0, 0, 1, 7, 30),
      }),
      { minLength: 20, maxLength: 40 },
    ),
  );

describe('the cache of a server block', () => {
  it('is read as its chain answers, whatever the block', async () => {
    const upstream = await startUpstream();
    let answered = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.subarray([...LINES], { maxLength: 6 }),
        fc.constantFrom(...ACLS),
        fc.constantFrom(...CACHES),
        steps,
        async (lines, acl, cache, asked) => {
          const clock = new ManualClock();
          const block = [...lines, acl, cache, `forward . 127.0.0.1:${upstream.port}`];
          const subject = new ReaderSubject(`.:53 {\n  ${block.join('\n  ')}\n}\n`, clock);
          await subject.engine.start();
          for (const { name, type, size, options, seconds } of asked) {
            clock.advance(seconds * 1000);
            const packet = makePacket(name, type, withOpt(size, options));
            const fromTable = subject.askTable(packet);
            const fromChain = await subject.askChain(packet);
            if (fromTable === undefined) continue;
            answered += 1;
            const expected = fromChain && toComparableMessage(fromChain);
            if (OF_HOSTS.has(name))
              expect(withoutAge(toComparableMessage(fromTable))).toEqual(expected && withoutAge(expected));
            else expect(toComparableMessage(fromTable), `${name} ${type}`).toEqual(expected);
          }
          subject.stop();
        },
      ),
      { numRuns: 25 },
    );
    expect(answered).toBeGreaterThan(50);
  });

  it.each([
    ['forwarded names', 'cache', 'many.test', 2],
    ['negative answers', 'cache', 'missing.test', 2],
    ['failures', 'cache', 'failing.test', 2],
    ['rewritten names', 'rewrite name exact old.test many.test\n cache', 'old.test', 3],
    ['templates', 'cache\n template IN A {\n answer "{{ .Name }} 60 IN A 192.0.2.1"\n }', 'a.test', 2],
    ['popular names', 'cache {\n prefetch 2\n }', 'many.test', 4],
  ])('has readers answer %s', async (_, lines, name, first) => {
    const upstream = await startUpstream();
    const clock = new ManualClock();
    const subject = new ReaderSubject(`.:53 {\n ${lines}\n forward . ${upstream.address}\n}\n`, clock);
    await subject.engine.start();
    const packet = makePacket(name, 'A');
    let asked = 1;
    for (; subject.askTable(packet) === undefined && asked < 9; asked += 1) await subject.askChain(packet);
    expect(asked).toBe(first);
    clock.advance(61_000);
    expect(subject.askTable(packet)).toBeUndefined();
  });

  it.each([
    ['forwarded names', 'cache', 'many.test', 'A'],
    ['negative answers', 'cache', 'missing.test', 'A'],
    ['answers of dns64', 'dns64 {\n allow_ipv4\n }\n cache', 'many.test', 'AAAA'],
    ['rewritten names', 'rewrite name exact old.test many.test\n cache', 'old.test', 'A'],
  ])('has readers answer %s whatever options a query has, first or later', async (_, lines, name, type) => {
    const upstream = await startUpstream();
    const clock = new ManualClock();
    const subject = new ReaderSubject(`.:53 {\n ${lines}\n forward . ${upstream.address}\n}\n`, clock);
    await subject.engine.start();
    // Asked by a client with a cookie only.
    for (let asked = 0; asked < 3; asked += 1)
      await subject.askChain(makePacket(name, type, withOpt(1232, EDNS_OPTIONS.slice(0, 1))));
    for (const options of [[], ...EDNS_OPTIONS.map((option) => [option]), EDNS_OPTIONS]) {
      const packet = makePacket(name, type, withOpt(1232, options));
      const read = subject.askTable(packet);
      const byChain = await subject.askChain(packet);
      expect(read && toComparableMessage(read), JSON.stringify(options)).toEqual(
        byChain && toComparableMessage(byChain),
      );
      expect(read?.edns?.options.map(({ code }) => code)).toEqual(
        options.map(({ code }) => code).filter((code) => code !== 8 && code !== 65_001),
      );
    }
  });

  it('leaves options to the plugins that read them', async () => {
    const upstream = await startUpstream();
    const block = (line: string) => `.:53 {\n ${line}\n cache\n forward . ${upstream.address}\n}\n`;
    const [cookie, , nsid] = EDNS_OPTIONS;
    for (const [line, answered, left] of [
      ['nsid own', cookie, nsid],
      ['rewrite edns0 nsid set', undefined, cookie],
    ] as const) {
      const subject = new ReaderSubject(block(line));
      await subject.engine.start();
      for (let asked = 0; asked < 3; asked += 1) await subject.askChain(makePacket('many.test', 'A'));
      expect(subject.askTable(makePacket('many.test', 'A', withOpt(1232, [left])))).toBeUndefined();
      if (answered !== undefined)
        expect(subject.askTable(makePacket('many.test', 'A', withOpt(1232, [answered])))).toBeDefined();
    }
  });

  it('is kept when another Corefile has the same block', async () => {
    const upstream = await startUpstream();
    const corefile = (more: string, cache: string) =>
      `${more} .:53 {\n ${cache}\n forward . ${upstream.address}\n}\n`;
    const subject = new ReaderSubject(corefile('', 'cache'));
    const { engine } = subject;
    await engine.start();
    const packet = makePacket('many.test', 'A');
    const change = async (...parts: Parameters<typeof corefile>) => {
      await engine.change(compilePlan(corefile(...parts)));
      return subject.askTable(packet)?.answers.length;
    };
    await subject.askChain(packet);
    for (const more of ['other.test:53 {\n whoami\n}\n', '']) expect(await change(more, 'cache')).toBe(3);
    // A change that is given up takes nothing with it.
    await (await engine.makeBlocks(compilePlan(corefile('', 'cache'))))?.stop();
    expect(subject.askTable(packet)?.answers).toHaveLength(3);
    expect(await change('', 'cache 30')).toBeUndefined();
    expect(upstream.queries).toHaveLength(1);
  });

  it('counts what readers give of it', async () => {
    const upstream = await startUpstream();
    const subject = new ReaderSubject(`.:53 {\n prometheus\n cache\n forward . ${upstream.address}\n}\n`);
    await subject.engine.start();
    for (const name of ['many.test', 'missing.test']) {
      await subject.askChain(makePacket(name, 'A'));
      for (let turn = 0; turn < 3; turn++) expect(subject.askTable(makePacket(name, 'A'))).toBeDefined();
    }
    const text = await subject.engine.metrics.render();
    const labels = `server="${SERVER}",zones=".",view=""`;
    expect(text).toContain(`coredns_cache_requests_total{${labels}} 8`);
    expect(text).toContain(`coredns_cache_misses_total{${labels}} 2`);
    expect(text).toContain(`coredns_cache_hits_total{${labels},type="success"} 3`);
    expect(text).toContain(`coredns_cache_hits_total{${labels},type="denial"} 3`);
    expect(text).toContain(
      `coredns_dns_responses_total{server="${SERVER}",zone=".",view="",rcode="NXDOMAIN"`,
    );
  });
});

it('gives what dns64 makes of its first answers, as what it makes of later ones', async () => {
  const upstream = await LoopbackUpstream.start(({ query, send }) => {
    const [question] = query.questions;
    if (question === undefined) return;
    const of = (data: ResourceRecord['data'], ttl: number) => ({ name: question.name, class: 1, ttl, data });
    const header = { ...query.header, response: true, recursionAvailable: true, authoritative: false };
    send(
      question.type === 1
        ? reply(query, { header, answers: [of({ kind: 'A', address: '192.0.2.7' }, 25)] })
        : reply(query, { header, answers: [], authorities: [of(SOA, 20)] }),
    );
  });
  onTestFinished(() => upstream.stop());
  const clock = new ManualClock();
  const subject = new ReaderSubject(
    `.:53 {\n prometheus\n dns64\n cache 30\n forward . 127.0.0.1:${upstream.port}\n}\n`,
    clock,
  );
  await subject.engine.start();
  const [ipv6, ipv4] = ['2001:db8::1', '192.0.2.1'].map((address) => ({ address, port: 53_000 }));
  const packet = makePacket('web.test', 'AAAA');
  const first = await subject.askChain(packet, 'udp', ipv6);
  expect(first?.answers).toHaveLength(1);
  const read = subject.askTable(packet, undefined, 'udp', ipv6);
  expect(read && toComparableMessage(read)).toEqual(first && toComparableMessage(first));
  expect(upstream.queries).toHaveLength(2);
  expect(subject.askTable(packet, undefined, 'udp', ipv4)?.answers ?? []).toEqual([]);
  clock.advance(15_000);
  const late = subject.askTable(packet, undefined, 'udp', ipv6);
  const byChain = await subject.askChain(packet, 'udp', ipv6);
  expect(late && toComparableMessage(late)).toEqual(byChain && toComparableMessage(byChain));
  expect(late?.answers[0]?.ttl).toBe(5);
  clock.advance(5000);
  expect(subject.askTable(packet, undefined, 'udp', ipv6)).toBe(undefined);
});
