/**
 * What dnsmasq does not cache it passes on: over UDP with the server's truncated reply, over TCP by TCP.
 */
import { encodeName, parseName, toKey } from '@portolan/dns/name.ts';
import { CLASS, type RecordData, TYPE } from '@portolan/dns/types.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { makeQuery } from '@portolan/kernel/chain/testing/queries.ts';
import type { CachedAnswer } from '@portolan/kernel/table/types.ts';
import { sharedAnswer, UncachedQuestions } from '@portolan/plugins/forward/uncached-questions.ts';
import { ask } from '@portolan/testing/client/ask.ts';
import type { DnsServer } from '@portolan/testing/client/dns-client.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { answerFromZone } from '@portolan/testing/upstream/reactions.ts';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';

afterEach(endAllPrograms);

const text = (index: number): RecordData => ({ kind: 'TXT', strings: [Buffer.alloc(255, index)] });

async function serve(): Promise<{ readonly server: DnsServer; readonly upstream: LoopbackUpstream }> {
  const upstream = await LoopbackUpstream.start(
    answerFromZone({
      'small.test. TXT': [text(1)],
      'large.test. TXT': Array.from({ length: 230 }, (_, index) => text(index)),
    }),
  );
  onTestFinished(() => upstream.stop());
  const server = { address: '127.0.0.1', port: await findFreePort() };
  const program = runPortolan([
    'dnsmasq',
    '-k',
    '--pid-file=',
    '--log-facility=-',
    '--user=',
    '--group=',
    '--no-resolv',
    '--no-hosts',
    '--listen-address=127.0.0.1',
    '--bind-interfaces',
    `--port=${server.port}`,
    `--server=${upstream.address.replace(':', '#')}`,
  ]);
  await waitUntil('dnsmasq', () => /started, version/.test(program.errors));
  return { server, upstream };
}

/** How the server was asked for a name. */
function waysTo({ queries }: LoopbackUpstream, name: string): readonly string[] {
  const isIts = ({ query }: (typeof queries)[number]) => query.questions[0]?.name === name;
  return queries.filter(isIts).map(({ over }) => over);
}

it('a truncated reply is passed on to a client over UDP, who then gets all of it over TCP', async () => {
  const { server, upstream } = await serve();
  const cut = await ask(server, 'large.test.', 'TXT');
  expect(cut.header.truncated).toBe(true);
  expect(waysTo(upstream, 'large.test.')).toEqual(['udp']);
  const whole = await ask(server, 'large.test.', 'TXT', { transport: 'tcp' });
  expect([whole.header.truncated, whole.answers.length]).toEqual([false, 230]);
  expect(waysTo(upstream, 'large.test.')).toEqual(['udp', 'stream']);
});

it('an answer that a datagram carries is asked for each time', async () => {
  const { server, upstream } = await serve();
  for (let turn = 1; turn <= 3; turn += 1) {
    expect((await ask(server, 'small.test.', 'TXT')).answers).toHaveLength(1);
    expect(waysTo(upstream, 'small.test.')).toHaveLength(turn);
  }
  expect((await ask(server, 'small.test.', 'TXT', { transport: 'tcp' })).answers).toHaveLength(1);
  expect(waysTo(upstream, 'small.test.')).toEqual(['udp', 'udp', 'udp', 'stream']);
});

it('the second question of a second fetches the whole answer, which all others of it share', () => {
  const clock = new ManualClock();
  const passedOn = new UncachedQuestions(clock);
  const query = makeQuery('large.test.');
  const byUdp = (isShared = true) => passedOn.toUncachedQuestion(query, isShared).passedOnBy;
  expect(byUdp()).toBe('udp');
  passedOn.noteTruncated(query.questionKey);
  expect(byUdp()).toBe(undefined);
  expect(byUdp(false)).toBe('udp');
  clock.advance(999);
  expect(byUdp()).toBe(undefined);
  clock.advance(1);
  expect(byUdp()).toBe('udp');
  expect(passedOn.toUncachedQuestion(query.forOurselves(), true).passedOnBy).toBe('tcp');
});

it('only so many questions are remembered', () => {
  const passedOn = new UncachedQuestions(new ManualClock());
  for (let index = 0; index < 5_000; index += 1)
    passedOn.noteTruncated(makeQuery(`n${index}.test.`).questionKey);
  const isKnown = (index: number) =>
    passedOn.toUncachedQuestion(makeQuery(`n${index}.test.`), true).passedOnBy === undefined;
  expect([isKnown(4_999), isKnown(5_000 - 1_024), isKnown(5_000 - 1_025), isKnown(0)]).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

/** An answer whose records take so many octets. */
function makeAnswer(octets: number): CachedAnswer {
  const sections = { answerCount: 1, authorityCount: 0, additionalCount: 0 };
  return {
    name: encodeName(toKey(parseName('large.test.'))),
    type: TYPE.TXT,
    class: CLASS.IN,
    dnssecOk: false,
    checkingDisabled: false,
    recursionAvailable: true,
    ttlOffsets: [],
    lifetime: 300,
    outcome: 0,
    body: { rcode: 0, authoritative: false, ...sections, bytes: new Uint8Array(octets), rotation: undefined },
  };
}

it('no answer is shared that a datagram carries', () => {
  expect(sharedAnswer(makeAnswer(1_232))).toBe(undefined);
  expect(sharedAnswer(makeAnswer(1_233))?.lifetime).toBe(1);
});
