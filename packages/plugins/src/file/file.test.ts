import { join } from 'node:path';
import { parseName, toKey } from '@portolan/dns/name.ts';
import { presentRecord } from '@portolan/dns/present.ts';
import { OPCODE, RCODE } from '@portolan/dns/types.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { Chain } from '@portolan/kernel/chain/handler.ts';
import { Query } from '@portolan/kernel/chain/query.ts';
import { addresses, CLIENT, makeQuery } from '@portolan/kernel/chain/testing/queries.ts';
import { NOTHING_RESTORED } from '@portolan/kernel/deviations/table.ts';
import { expect, it } from 'vitest';
import { File } from './file.ts';

const key = (name: string) => toKey(parseName(name));

const ZONE = `$ORIGIN example.
$TTL 60
@ IN SOA ns host 1 7200 3600 1209600 60
@ IN NS ns
ns IN A 192.0.2.53
web IN A 192.0.2.80
www IN CNAME web
dangling IN CNAME nowhere
outside IN CNAME www.elsewhere.test.
loop1 IN CNAME loop2
loop2 IN CNAME loop1
*.wild IN A 192.0.2.81
known.wild IN A 192.0.2.82
sub IN NS ns.sub
ns.sub IN A 192.0.2.99
a.b IN A 192.0.2.83
dn IN DNAME target
x.target IN A 192.0.2.84
`;

const behind: Chain = ({ question }) =>
  question.name === 'www.elsewhere.test.'
    ? addresses(question.name, '192.0.2.200')
    : { kind: 'servfail', reason: 'plugin/file: no next plugin found' };

async function serve(
  text: string,
  fallthrough: readonly string[] = [],
  outside?: Answer,
  restored = NOTHING_RESTORED,
) {
  const folder = await makeTemporaryFolder();
  const clock = new ManualClock();
  const log = new RecordingLog();
  const path = await folder.write('db', text);
  const zone = { origin: key('example.'), path, reload: 60_000, reloadByMtime: false };
  let chain: Chain = behind;
  const file = new File(
    { zones: [zone], fallthrough: fallthrough.map(key) },
    { clock, log, chain: (query) => chain(query), restored, rotates: () => false },
  );
  const next: Chain = outside === undefined ? behind : () => outside;
  chain = (query) => file.handler.handle(query, next);
  file.start();
  return {
    folder,
    clock,
    log,
    ask: async (name: string, type = 'A') => tell(await chain(makeQuery(name, type))),
    handle: async (query: Query) => void (await chain(query)),
    notify: async (name: string) => {
      const { question, header } = makeQuery(name, 'SOA');
      const notify = { question, header: { ...header, opcode: OPCODE.NOTIFY }, edns: undefined };
      return tell(await chain(new Query(question, notify, CLIENT)));
    },
  };
}

/** In short: the response code, then the records of each section. */
function tell(answer: Answer): readonly string[] {
  if (answer.kind !== 'message') return [answer.kind];
  const { rcode, authoritative, answers, authorities, additionals } = answer;
  const code = `${rcode === RCODE.NXDOMAIN ? 'nxdomain' : rcode}${authoritative ? ' aa' : ''}`;
  const lines = [answers, authorities, additionals].map((records) => records.map(presentRecord).join(', '));
  return [code, ...lines];
}

const SOA = 'example. 60 IN SOA ns.example. host.example. 1 7200 3600 1209600 60';
const NS = 'example. 60 IN NS ns.example.';

it.each([
  ['example.', 'SOA', ['0 aa', SOA, NS, '']],
  ['example.', 'NS', ['0 aa', NS, '', 'ns.example. 60 IN A 192.0.2.53']],
  ['web.example.', 'A', ['0 aa', 'web.example. 60 IN A 192.0.2.80', NS, '']],
  ['web.example.', 'MX', ['0 aa', '', SOA, '']],
  [
    'www.example.',
    'A',
    ['0 aa', 'www.example. 60 IN CNAME web.example., web.example. 60 IN A 192.0.2.80', NS, ''],
  ],
  // RFC 2308 section 2.2.
  ['www.example.', 'TXT', ['0 aa', 'www.example. 60 IN CNAME web.example.', SOA, '']],
  ['dangling.example.', 'A', ['nxdomain aa', 'dangling.example. 60 IN CNAME nowhere.example.', SOA, '']],
  ['nosuch.example.', 'A', ['nxdomain aa', '', SOA, '']],
  ['b.example.', 'A', ['0 aa', '', SOA, '']],
  ['x.wild.example.', 'A', ['0 aa', 'x.wild.example. 60 IN A 192.0.2.81', NS, '']],
  ['x.known.wild.example.', 'A', ['nxdomain aa', '', SOA, '']],
  [
    'x.sub.example.',
    'A',
    ['0', '', 'sub.example. 60 IN NS ns.sub.example.', 'ns.sub.example. 60 IN A 192.0.2.99'],
  ],
  ['example.', 'AXFR', ['refused']],
  ['other.test.', 'A', ['refused']],
])('answers %s %s as CoreDNS does', async (name, type, expected) => {
  const { ask } = await serve(ZONE);
  expect(await ask(name, type)).toEqual(expected);
});

it('follows aliases out of the zone, and DNAMEs', async () => {
  const { ask } = await serve(ZONE);
  expect((await ask('outside.example.'))[1]).toBe(
    'outside.example. 60 IN CNAME www.elsewhere.test., www.elsewhere.test. 30 IN A 192.0.2.200',
  );
  expect((await ask('x.dn.example.'))[1]).toBe(
    'dn.example. 60 IN DNAME target.example., x.dn.example. 60 IN CNAME x.target.example., ' +
      'x.target.example. 60 IN A 192.0.2.84',
  );
});

const LONG = ['x', 'y', 'z', 'v'].map((letter) => letter.repeat(50)).join('.');
const JUDGED = `${ZONE}
self IN CNAME self
dself IN DNAME dself
d1 IN DNAME d2
d2 IN DNAME d1
dlong IN DNAME ${LONG}
bound IN HTTPS 1 . alpn=h2
bound IN A 192.0.2.90
away IN HTTPS 0 bound
Caps IN MX 10 WEB
gone IN CNAME none.elsewhere.test.
*.any IN CNAME web
twice IN CNAME x.any
`;

/** By BIND, Knot, NSD and PowerDNS: Ferret's zones and PowerDNS' regression tests. */
it.each([
  [
    'loop1.example.',
    'A',
    ['0 aa', 'loop1.example. 60 IN CNAME loop2.example., loop2.example. 60 IN CNAME loop1.example.', '', ''],
  ],
  ['self.example.', 'A', ['0 aa', 'self.example. 60 IN CNAME self.example.', '', '']],
  [
    'x.dself.example.',
    'A',
    [
      '0 aa',
      'dself.example. 60 IN DNAME dself.example., x.dself.example. 60 IN CNAME x.dself.example.',
      NS,
      '',
    ],
  ],
  [
    'x.d1.example.',
    'A',
    [
      '0 aa',
      'd1.example. 60 IN DNAME d2.example., x.d1.example. 60 IN CNAME x.d2.example., ' +
        'd2.example. 60 IN DNAME d1.example., x.d2.example. 60 IN CNAME x.d1.example.',
      NS,
      '',
    ],
  ],
  // RFC 6672 section 2.2.
  [`${'a'.repeat(60)}.dlong.example.`, 'A', ['6 aa', `dlong.example. 60 IN DNAME ${LONG}.example.`, '', '']],
  [
    'bound.example.',
    'HTTPS',
    ['0 aa', 'bound.example. 60 IN HTTPS 1 . alpn="h2"', NS, 'bound.example. 60 IN A 192.0.2.90'],
  ],
  [
    'away.example.',
    'HTTPS',
    [
      '0 aa',
      'away.example. 60 IN HTTPS 0 bound.example.',
      NS,
      'bound.example. 60 IN A 192.0.2.90, bound.example. 60 IN HTTPS 1 . alpn="h2"',
    ],
  ],
  // CoreDNS has the names of a zone in lower case.
  [
    'CAPS.example.',
    'MX',
    ['0 aa', 'caps.example. 60 IN MX 10 web.example.', NS, 'web.example. 60 IN A 192.0.2.80'],
  ],
  // The zone's name servers say nothing of names elsewhere.
  ['gone.example.', 'A', ['0 aa', 'gone.example. 60 IN CNAME none.elsewhere.test.', '', '']],
  [
    'twice.example.',
    'MX',
    ['0 aa', 'twice.example. 60 IN CNAME x.any.example., x.any.example. 60 IN CNAME web.example.', SOA, ''],
  ],
])('answers %s %s as other authoritative servers do', async (name, type, expected) => {
  const { ask } = await serve(JUDGED, [], { kind: 'refused' });
  expect(await ask(name, type)).toEqual(expected);
});

it('answers as CoreDNS where deviations are restored', async () => {
  const restored = new Set([
    'alias-circles',
    'alias-chains',
    'alias-to-nothing',
    'alias-to-elsewhere',
  ] as const);
  const { ask } = await serve(ZONE, [], undefined, restored);
  expect((await ask('loop1.example.'))[1]?.split(', ')).toHaveLength(10);
  expect(await ask('www.example.', 'TXT')).toEqual(['0 aa', 'www.example. 60 IN CNAME web.example.', NS, '']);
  expect((await ask('outside.example.'))[2]).toBe(NS);
});

it('restores each deviation by itself', async () => {
  const { ask } = await serve(ZONE, [], undefined, new Set(['alias-to-nothing']));
  expect(await ask('www.example.', 'TXT')).toEqual(['0 aa', 'www.example. 60 IN CNAME web.example.', NS, '']);
  expect((await ask('loop1.example.'))[1]?.split(', ')).not.toHaveLength(10);
  expect((await ask('outside.example.'))[2]).not.toBe(NS);
  const judged = await serve(JUDGED, [], { kind: 'refused' }, new Set(['service-bindings']));
  expect(await judged.ask('bound.example.', 'HTTPS')).toEqual([
    '0 aa',
    'bound.example. 60 IN HTTPS 1 . alpn="h2"',
    NS,
    '',
  ]);
});

it('passes on names that do not exist, where it is told to', async () => {
  const { ask } = await serve(ZONE, ['nosuch.example.', 'b.example.']);
  expect(await ask('nosuch.example.')).toEqual(['servfail']);
  expect(await ask('b.example.')).toEqual(['servfail']);
  expect((await ask('other.example.'))[0]).toBe('nxdomain aa');
});

it('takes over a new serial, and neither the same one nor a file with faults', async () => {
  const { ask, clock, folder, log } = await serve(ZONE);
  const change = async (text: string) => {
    await folder.write('db', text);
    clock.advance(60_000);
    return (await ask('web.example.'))[1];
  };
  const moved = ZONE.replace('192.0.2.80', '192.0.2.88');
  expect(await change(moved)).toContain('192.0.2.80');
  expect(await change('garbage here')).toContain('192.0.2.80');
  expect(log.records.at(-1)).toMatchObject({ level: 'error' });
  expect(await change(moved.replace('host 1', 'host 2'))).toContain('192.0.2.88');
  expect(log.records.filter(({ level }) => level === 'warn')).toEqual([]);
  // Without a TTL it is taken with a warning, as CoreDNS takes it.
  expect(await change(moved.replace('host 1', 'host 3').replace('$TTL 60\n', ''))).toBe(
    'web.example. 0 IN A 192.0.2.88',
  );
  expect(log.records.at(-2)).toMatchObject({
    level: 'warn',
    message: expect.stringMatching(/^plugin\/file: Zone "example\.": .*:2: the record and \$TTL give no TTL/),
  });
});

it('fails while there is no file, and looks for it again', async () => {
  const folder = await makeTemporaryFolder();
  const clock = new ManualClock();
  const zone = {
    origin: key('example.'),
    path: join(folder.path, 'db'),
    reload: 60_000,
    reloadByMtime: false,
  };
  const file = new File(
    { zones: [zone], fallthrough: [] },
    { clock, log: silentLog, chain: behind, restored: NOTHING_RESTORED, rotates: () => false },
  );
  file.start();
  const ask = async () => tell(await file.handler.handle(makeQuery('web.example.'), behind));
  expect(await ask()).toEqual(['servfail']);
  await folder.write('db', ZONE);
  clock.advance(60_000);
  expect((await ask())[0]).toBe('0 aa');
});

/** The query with the UDP size that its client offers. */
function offering(query: Query, size: number | undefined): Query {
  if (size === undefined) return query;
  const edns = { udpSize: size, dnssecOk: false, extendedRcode: 0, version: 0, options: [] };
  return new Query(query.question, { header: query.header, question: query.question, edns }, CLIENT);
}

it('gives only records that a response has room for, from a random address with loadbalance', async () => {
  const folder = await makeTemporaryFolder();
  const many = Array.from(
    { length: 1000 },
    (_, index) => `many IN A 10.0.${index >> 8}.${index & 255}\nmany IN SRV 1 1 ${index} web\n`,
  );
  const path = await folder.write('db', ZONE + many.join(''));
  const zone = { origin: key('example.'), path, reload: 0, reloadByMtime: false };
  const make = (rotates: boolean, restored = NOTHING_RESTORED) => {
    const file = new File(
      { zones: [zone], fallthrough: [] },
      {
        clock: new ManualClock(),
        log: silentLog,
        chain: behind,
        restored,
        rotates: () => rotates,
      },
    );
    file.start();
    return async (type: string, size?: number) => {
      const answer = await file.handler.handle(offering(makeQuery('many.example.', type), size), behind);
      if (answer.kind !== 'message') throw new Error(answer.kind);
      return answer;
    };
  };
  const ask = make(false);
  const one = await ask('A');
  const other = await ask('A');
  expect(one).toMatchObject({ truncated: true, authorities: [], additionals: [] });
  expect(one.answers.length).toBeLessThan(60);
  expect(other.answers).toEqual(one.answers);
  expect(await ask('SRV')).toMatchObject({ truncated: true, additionals: [] });
  const bound = await ask('A', 60_000);
  const whole = await make(false, new Set(['udp-size-bound']))('A', 60_000);
  expect([bound.answers.length, whole.answers.length]).toEqual([253, 1000]);
  const askAny = make(true);
  const firsts = await Promise.all(Array.from({ length: 20 }, async () => (await askAny('A')).answers[0]));
  expect(new Set(firsts.map((first) => first && presentRecord(first))).size).toBeGreaterThan(5);
});

it('drops NOTIFY, as its zones have no primary servers', async () => {
  const { notify, log } = await serve(ZONE);
  expect(await notify('web.example.')).toEqual(['drop']);
  expect(log.records.map(({ message }) => message)).toContain(
    `plugin/file: Dropping notify from ${CLIENT.address} for example.`,
  );
});

it('logs a few notifications a minute, and the number of others', async () => {
  const { notify, log, clock } = await serve(ZONE);
  const lines = () =>
    log.records.map(({ message }) => message).filter((message) => /notif(?:y|ies) /.test(message));
  for (let count = 0; count < 50; count += 1) await notify('web.example.');
  expect(lines()).toHaveLength(20);
  clock.advance(60_000);
  await notify('web.example.');
  expect(lines().slice(20)).toEqual([
    'plugin/file: 30 more notifies in a minute',
    `plugin/file: Dropping notify from ${CLIENT.address} for example.`,
  ]);
});

it.each([
  ['new.wild.example.', '*.wild.example.'],
  ['known.wild.example.', undefined],
  ['nosuch.example.', undefined],
])('tells which wildcard made an answer: %s', async (name, wildcard) => {
  const { handle } = await serve(ZONE);
  const query = makeQuery(name);
  query.collectMetadata();
  await handle(query);
  expect(query.metadata('zone/wildcard')).toBe(wildcard);
  // A cache would not know it.
  expect(query.mayBeCached).toBe(wildcard === undefined);
  const unwatched = makeQuery(name);
  await handle(unwatched);
  expect(unwatched.mayBeCached).toBe(true);
});
