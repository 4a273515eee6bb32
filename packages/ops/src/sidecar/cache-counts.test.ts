import { CLASS, type Message, type Question, type RecordData } from '@portolan/dns/types.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { beforeEach, expect, it } from 'vitest';
import { COUNT_NAMES, DnsmasqCacheCounts } from './cache-counts.ts';
import type { ServerReply } from './server-question.ts';

let clock: ManualClock;
let log: RecordingLog;
let asked: Question[];
/** The data of dnsmasq's answers, by name. */
let says: (name: string) => readonly RecordData[] | undefined;

beforeEach(() => {
  clock = new ManualClock();
  log = new RecordingLog();
  asked = [];
});

const texts = (...strings: readonly string[]): RecordData => ({
  kind: 'TXT',
  strings: strings.map((string) => Buffer.from(string)),
});
const all = (text: string) => () => [texts(text)];

async function ask(question: Question): Promise<ServerReply> {
  asked.push(question);
  const data = says(question.name);
  if (data === undefined) return { kind: 'failed', reason: 'i/o timeout' };
  const answers = data.map((each) => ({ name: question.name, class: CLASS.CH, ttl: 0, data: each }));
  // The code reads only these fields of a message.
  return { kind: 'replied', message: { answers } as unknown as Message, latency: 1 };
}

function start(): DnsmasqCacheCounts {
  const counts = new DnsmasqCacheCounts({ ask, interval: 5_000, delay: 0, clock, log });
  counts.start();
  clock.advance(0);
  return counts;
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

async function read(text: string): Promise<void> {
  says = all(text);
  clock.advance(5_000);
  await settle();
}

it('asks for five counts in class CHAOS, at once and then on its interval', async () => {
  says = all('7');
  const counts = start();
  await settle();
  expect(asked.map(({ name }) => name)).toEqual(COUNT_NAMES.map((name) => `${name}.bind.`));
  expect(new Set(asked.map((question) => question.class))).toEqual(new Set([CLASS.CH]));
  expect(COUNT_NAMES.map((name) => counts.total(name))).toEqual([7, 7, 7, 7, 7]);
  clock.advance(4_999);
  expect(asked).toHaveLength(5);
  clock.advance(1);
  await settle();
  expect(asked).toHaveLength(10);
});

it('grows only, and over a restart of dnsmasq adds the counts of the new process', async () => {
  says = all('100');
  const counts = start();
  await settle();
  const seen = [];
  for (const text of ['150', '20', '20', '50', '-3', '5']) {
    await read(text);
    seen.push(counts.total('hits'));
  }
  expect(seen).toEqual([150, 150, 150, 180, 180, 185]);
  expect(counts.errors).toBe(0);
});

it.each<[string, readonly RecordData[] | undefined]>([
  ['read udp', undefined],
  ['invalid number of Answer records: 0', []],
  ['invalid number of Answer records: 2', [texts('1'), texts('2')]],
  ['invalid number of TXT records: 2', [texts('1', '2')]],
  ['missing TXT record', [{ kind: 'A', address: '192.0.2.1' }]],
  ['not a count', [texts('many')]],
  ['not a count', [texts('')]],
  ['not a count', [texts('1e9')]],
  ['not a count', [texts('9223372036854775807')]],
])('uses none of a reading of which one cannot be read: %s', async (_, data) => {
  says = (name) => (name === 'cachesize.bind.' ? data : [texts('9')]);
  const counts = start();
  await settle();
  expect(counts.errors).toBe(1);
  expect(COUNT_NAMES.map((name) => counts.total(name))).toEqual([0, 0, 0, 0, 0]);
  await read('9');
  expect(counts.errors).toBe(1);
  expect(counts.total('hits')).toBe(9);
});

it('leaves off at the first that fails, and complains once', async () => {
  says = () => undefined;
  const counts = start();
  await settle();
  clock.advance(5_000);
  await settle();
  expect(asked).toHaveLength(2);
  expect(counts.errors).toBe(2);
  await read('1');
  expect(log.records).toEqual([
    {
      level: 'warn',
      message: 'cannot read the counters of dnsmasq',
      fields: { reason: 'hits.bind.: i/o timeout' },
    },
    { level: 'info', message: 'counters of dnsmasq readable again', fields: {} },
  ]);
});

it('ends when it is stopped, in the midst of a reading too', async () => {
  says = all('3');
  const counts = start();
  counts.stop();
  await settle();
  expect(counts.total('hits')).toBe(0);
  expect(clock.pending).toBe(0);
});
