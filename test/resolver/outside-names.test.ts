/**
 * The program with upstream servers: the destination of each question, and the client's answer.
 */

import { RCODE } from '@portolan/dns/types.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { ask, askShort } from '@portolan/testing/client/ask.ts';
import { formatAnswers } from '@portolan/testing/client/format-answers.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { answerFromZone, makeAddress, makeTarget } from '@portolan/testing/upstream/reactions.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { afterFile } from '../support/after-file.ts';
import { endAllPrograms, look, type Serving, servePortolan } from '../support/portolan.ts';

afterAll(endAllPrograms);

const WORLD = {
  'www.example. A': [makeAddress('192.0.2.1')],
  'www.example. AAAA': [makeAddress('2001:db8::1')],
  'v4.example. A': [makeAddress('192.0.2.4')],
  'alias.example. CNAME': [makeTarget('CNAME', 'other.example.')],
  'other.example. CNAME': [makeTarget('CNAME', 'www.example.')],
  '8.8.8.8.in-addr.arpa. PTR': [makeTarget('PTR', 'dns.example.')],
  'many.example. A': Array.from({ length: 60 }, (_, index) => makeAddress(`192.0.2.${index}`)),
};

const external = (name: string, externalName: string): string =>
  `apiVersion: v1\nkind: Service\nmetadata: { name: ${name}, namespace: out }\n` +
  `spec: { type: ExternalName, externalName: ${externalName} }\n`;

const MANIFESTS = [
  external('direct', 'www.example'),
  external('long', 'alias.example'),
  external('gone', 'nowhere.example'),
  external('stub', 'x.corp.test'),
  external('near', 'web.out.svc.cluster.local'),
  external('twice', 'direct.out.svc.cluster.local'),
  external('ping', 'pong.out.svc.cluster.local'),
  external('pong', 'ping.out.svc.cluster.local'),
  ...Array.from({ length: 12 }, (_, index) => external(`s${index}`, `s${index + 1}.out.svc.cluster.local`)),
  'apiVersion: v1\nkind: Service\nmetadata: { name: web, namespace: out }\n' +
    'spec: { clusterIP: 10.96.0.77, clusterIPs: [10.96.0.77, "fd00::77"], ports: [{ port: 80 }] }\n',
].join('---\n');

let world: LoopbackUpstream;
let corporation: LoopbackUpstream;
let serving: Serving;

const inCluster = (name: string): string => `${name}.out.svc.cluster.local`;

beforeAll(async () => {
  world = await LoopbackUpstream.start(answerFromZone(WORLD));
  afterFile(() => world.stop());
  corporation = await LoopbackUpstream.start(
    answerFromZone({
      'x.corp.test. A': [makeAddress('10.1.1.1')],
      'a.deep.corp.test. A': [makeAddress('10.1.1.2')],
      'mail.corp.cluster.local. A': [makeAddress('10.1.1.3')],
    }),
  );
  afterFile(() => corporation.stop());
  const folder = await makeTemporaryFolder(afterFile);
  await folder.write('services.yaml', MANIFESTS);
  serving = await servePortolan([
    '--manifests',
    folder.path,
    '--upstream',
    world.address,
    '--stub-domain',
    `corp.test,corp.cluster.local=${corporation.address}`,
    '--stub-domain',
    'gone.test=',
    '--stub-domain',
    `deep.corp.test=${world.address}`,
  ]);
  await serving.program.heard('cluster listed');
});

describe.each(['udp', 'tcp'] as const)('over %s', (transport) => {
  it.each([
    ['www.example', 'A', '192.0.2.1'],
    ['WWW.Example', 'AAAA', '2001:db8::1'],
    ['alias.example', 'A', '192.0.2.1 other.example. www.example.'],
    ['v4.example', 'AAAA', 'NODATA'],
    ['nowhere.example', 'A', 'NXDOMAIN'],
    ['8.8.8.8.in-addr.arpa', 'PTR', 'dns.example.'],
    ['77.0.96.10.in-addr.arpa', 'PTR', 'web.out.svc.cluster.local.'],
    ['x.corp.test', 'A', '10.1.1.1'],
    ['a.deep.corp.test', 'A', 'NXDOMAIN'],
    ['mail.corp.cluster.local', 'A', '10.1.1.3'],
    ['other.corp.cluster.local', 'A', 'NXDOMAIN'],
    ['any.gone.test', 'A', 'NXDOMAIN'],
    ['web.out.svc.cluster.local', 'A', '10.96.0.77'],
  ] as const)('%s %s is %s', async (name, type, expected) => {
    expect(await askShort(serving, name, type, { transport })).toBe(expected);
  });

  it('offers recursion, and is no authority for names of others', async () => {
    const [theirs, ours] = [
      await ask(serving, 'www.example', 'A', { transport }),
      await ask(serving, inCluster('web'), 'A', { transport }),
    ];
    expect(theirs.header).toMatchObject({ recursionAvailable: true, authoritative: false });
    expect(ours.header).toMatchObject({ recursionAvailable: true, authoritative: true });
  });
});

describe('a question', () => {
  it('goes upstream once, and then no server is asked', async () => {
    await askShort(serving, 'www.example', 'A');
    const asked = world.questions.length;
    for (let index = 0; index < 20; index += 1)
      expect(await askShort(serving, 'www.example', 'A')).toBe('192.0.2.1');
    expect(world.questions).toHaveLength(asked);
  });

  it('of a search path stays here', async () => {
    for (const suffix of ['out.svc.cluster.local', 'svc.cluster.local', 'cluster.local'])
      expect(await askShort(serving, `www.example.${suffix}`, 'A')).toBe('NXDOMAIN');
    expect(world.questions.filter((question) => question.includes('cluster.local'))).toEqual([]);
  });

  it('with a large answer is asked again over TCP, and cut for a client that takes little', async () => {
    const whole = await ask(serving, 'many.example', 'A', { transport: 'tcp' });
    expect(whole.answers).toHaveLength(60);
    const cut = await ask(serving, 'many.example', 'A');
    expect(cut.header.truncated).toBe(true);
    expect(cut.answers.length).toBeLessThan(60);
    expect(world.queries.filter(({ over }) => over === 'stream').length).toBeGreaterThan(0);
  });

  it('for ANY goes where it belongs', async () => {
    await ask(serving, 'v4.example', 'ANY');
    expect(world.questions).toContain('v4.example. ANY');
    expect((await ask(serving, inCluster('web'), 'ANY')).answers).toMatchObject([
      { data: { kind: 'HINFO' } },
    ]);
  });
});

describe('an ExternalName', () => {
  it('holds the whole chain, whose end upstream knows', async () => {
    expect(formatAnswers(await ask(serving, inCluster('direct'), 'A'))).toEqual([
      'direct.out.svc.cluster.local. CNAME www.example.',
      'www.example. A 192.0.2.1',
    ]);
    const long = await ask(serving, inCluster('long'), 'AAAA');
    expect(long.header).toMatchObject({ authoritative: true, rcode: RCODE.NOERROR });
    expect(formatAnswers(long)).toEqual([
      'long.out.svc.cluster.local. CNAME alias.example.',
      'alias.example. CNAME other.example.',
      'other.example. CNAME www.example.',
      'www.example. AAAA 2001:db8::1',
    ]);
  });

  it('leads to stub domains, to other services, and through them out again', async () => {
    expect(await askShort(serving, inCluster('stub'), 'A')).toBe('10.1.1.1 x.corp.test.');
    expect(await askShort(serving, inCluster('near'), 'A')).toBe('10.96.0.77 web.out.svc.cluster.local.');
    expect(formatAnswers(await ask(serving, inCluster('twice'), 'A'))).toEqual([
      'twice.out.svc.cluster.local. CNAME direct.out.svc.cluster.local.',
      'direct.out.svc.cluster.local. CNAME www.example.',
      'www.example. A 192.0.2.1',
    ]);
  });

  it('that leads to nothing says so, and has its alias', async () => {
    const { header, answers } = await ask(serving, inCluster('gone'), 'A');
    expect(header.rcode).toBe(RCODE.NXDOMAIN);
    expect(answers).toHaveLength(1);
  });

  it('asks upstream for its end once', async () => {
    await askShort(serving, inCluster('direct'), 'A');
    const asked = world.questions.length;
    for (let index = 0; index < 5; index += 1) await askShort(serving, inCluster('direct'), 'A');
    expect(world.questions).toHaveLength(asked);
  });

  it('in a circle, or in too long a row, ends with a warning', async () => {
    expect(['NODATA', 'pong.out.svc.cluster.local.']).toContain(
      await askShort(serving, inCluster('ping'), 'A'),
    );
    expect((await ask(serving, inCluster('s0'), 'A')).header.rcode).toBe(RCODE.NOERROR);
    expect(await serving.program.heard('alias not followed to its end')).toMatchObject({ level: 'warn' });
    expect(await askShort(serving, inCluster('s6'), 'A')).not.toBe('SERVFAIL');
  });
});

describe('figures', () => {
  it('tell who was asked, and what the cache saved', async () => {
    await askShort(serving, 'www.example', 'A');
    await askShort(serving, 'www.example', 'A');
    const { text } = await look(serving, '/metrics');
    const value = (name: string) =>
      Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`${name} `))
          ?.split(' ')[1],
      );
    expect(
      value(`portolan_upstream_results_total{upstream="${world.address}",result="NOERROR"}`),
    ).toBeGreaterThan(0);
    expect(value(`portolan_upstream_queries_total{upstream="${corporation.address}"}`)).toBeGreaterThan(0);
    expect(value('portolan_cache_hits_total{kind="fresh"}')).toBeGreaterThan(0);
    expect(value('portolan_cache_misses_total')).toBeGreaterThan(0);
    expect(value('portolan_cache_insertions_total')).toBeGreaterThan(0);
    expect(value('portolan_forward_duration_seconds_count')).toBeGreaterThan(0);
    expect(value('portolan_internal_errors_total')).toBe(0);
    expect(value('portolan_forward_inflight_queries')).toBe(0);
  });
});
