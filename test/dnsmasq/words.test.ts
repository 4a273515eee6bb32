/**
 * Output other than answers: the lines of `--log-queries`, and the server's records in class CHAOS.
 */
import { spawnSync } from 'node:child_process';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import type { React } from '@portolan/testing/upstream/received-query.ts';
import { makeAddressRecord, reply } from '@portolan/testing/upstream/reply.ts';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { describeWithTool } from '../support/tools.ts';
import { type Both, endAllSides, hear, type Question, runBoth, type Side } from './both.ts';

const DIG = 'dig';
/** Lines of answers from the table are written some milliseconds after the answers. */
const LINES = { timeout: 5_000 };
const react: React = ({ query, send }) =>
  send(
    reply(
      query,
      query.questions[0]?.type === 1 ? { answers: [makeAddressRecord(query, '192.0.2.1')] } : { answers: [] },
    ),
  );

let upstreams: readonly LoopbackUpstream[];
let both: Both | undefined;

beforeEach(async () => {
  upstreams = await Promise.all([1, 2].map(() => LoopbackUpstream.start(react)));
});
afterEach(async () => {
  await both?.stop();
  await endAllSides();
  for (const upstream of upstreams) await upstream.stop();
});

async function start(words: readonly string[]): Promise<Both> {
  const [real = 0, ours = 0] = upstreams.map(({ port }) => port);
  const sides = { real, ours };
  both = await runBoth(
    ['--no-resolv', '--no-hosts', '-C', '/dev/null', '--server=127.0.0.1#SIDE', ...words],
    sides,
  );
  return both;
}

const QUESTIONS: readonly Question[] = [
  ['www.test', 'A'],
  ['www.test', 'A'],
  ['www.test', 'AAAA'],
  ['record.test', 'A'],
  ['alias.test', 'A'],
  ['x.blocked.test', 'A'],
  ['null.test', 'AAAA'],
  ['2.2.2.10.in-addr.arpa', 'PTR'],
];

/** The lines about queries, without what differs from run to run. */
function listQueryLines(side: Side): readonly string[] {
  return side
    .said()
    .split('\n')
    .map((line) => line.replace(/^dnsmasq\[\d+\]: /, ''))
    .filter((line) => /query\[|forwarded|reply|cached|config/.test(line))
    .map((line) => line.replaceAll(/127\.0\.0\.1([/#])\d+/g, '127.0.0.1$1PORT'));
}

async function waitForQuestions(side: Side): Promise<void> {
  const end = performance.now() + 5_000;
  while (listQueryLines(side).filter((line) => line.includes('query[')).length < QUESTIONS.length) {
    if (performance.now() > end) throw new Error(`not all questions are logged:\n${side.said()}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describeWithTool(['dnsmasq', 'dig'], 'beside answers', () => {
  it.each(['--log-queries', '--log-queries=extra'])('%s says what dnsmasq says', async (option) => {
    const local = ['--host-record=record.test,10.2.2.2', '--cname=alias.test,record.test'];
    const { real, ours } = await start([
      option,
      ...local,
      '--address=/blocked.test/',
      '--address=/null.test/#',
    ]);
    for (const question of QUESTIONS) for (const side of [real, ours]) await hear(side, question);
    for (const side of [real, ours]) await waitForQuestions(side);
    await expect.poll(() => listQueryLines(ours), LINES).toEqual(listQueryLines(real));
  });

  const NAMES = ['cachesize', 'insertions', 'evictions', 'misses', 'hits', 'auth', 'servers'];

  function say(side: Side, name: string, type = 'TXT'): string {
    const options = [
      '@127.0.0.1',
      '-p',
      String(side.port),
      '+time=5',
      '+tries=1',
      '+noall',
      '+comments',
      '+answer',
    ];
    const { stdout } = spawnSync(DIG, [...options, 'CH', type, `${name}.bind`], { encoding: 'utf8' });
    const status = /status: (\w+)/.exec(stdout)?.[1];
    const record = stdout.split('\n').find((line) => line.startsWith(name)) ?? '';
    return `${status} ${record.replaceAll(/\s+/g, ' ')}`.replaceAll(/127\.0\.0\.1#\d+/g, 'SERVER');
  }

  it('class CHAOS counts as dnsmasq does', async () => {
    const { real, ours } = await start(['--local-ttl=9']);
    const all = (side: Side) => NAMES.map((name) => say(side, name));
    expect(all(ours)).toEqual(all(real));
    for (const name of ['a.test', 'a.test', 'b.test', 'b.test'])
      for (const side of [real, ours]) await hear(side, [name, 'A']);
    expect(all(ours)).toEqual(all(real));
    expect(say(ours, 'hits')).not.toBe(say(ours, 'hits'));
    for (const [name, type] of [
      ['nobody', 'TXT'],
      ['version', 'A'],
      ['hits', 'ANY'],
    ] as const)
      expect(say(ours, name, type).split(' ')[0]).toBe(say(real, name, type).split(' ')[0]);
    // Who we are is no secret, and we are not dnsmasq.
    expect(say(ours, 'version')).toMatch(/^NOERROR version\.bind\. 9 CH TXT "portolan-/);
  });

  it('--no-ident keeps it to itself', async () => {
    const { real, ours } = await start(['--no-ident']);
    for (const name of ['version', 'hits']) expect(say(ours, name)).toBe(say(real, name));
  });

  it('hosts files are told by their name in the log', async () => {
    const { write } = await makeTemporaryFolder();
    const hosts = await write('hosts', '10.3.3.3 hosts.test\n');
    const more = await write('more', '10.3.3.4 hosts.test\n10.3.3.3 same.test\n');
    const own = '--host-record=option.test,10.3.3.5';
    const { real, ours } = await start([
      '--log-queries',
      `--addn-hosts=${hosts}`,
      `--addn-hosts=${more}`,
      own,
    ]);
    for (const side of [real, ours]) {
      await hear(side, ['hosts.test', 'A']);
      await hear(side, ['same.test', 'A']);
      await hear(side, ['3.3.3.10.in-addr.arpa', 'PTR']);
      await hear(side, ['option.test', 'A']);
      await expect.poll(() => side.said(), LINES).toContain('config option.test is 10.3.3.5');
      expect(side.said()).toContain(`${hosts} hosts.test is 10.3.3.3`);
      expect(side.said()).toContain(`${more} hosts.test is 10.3.3.4`);
      expect(side.said()).toContain(`${more} same.test is 10.3.3.3`);
      expect(side.said()).toContain(`${more} 10.3.3.3 is same.test`);
    }
  });
});
