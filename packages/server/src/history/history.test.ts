import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { DEFAULT_HISTORY } from '../plan/history-plan.ts';
import { History } from './history.ts';
import { type HistoryRecord, readSpan } from './history-record.ts';

const MINUTE = 60_000;
const SMALL = { ...DEFAULT_HISTORY, octets: 8 * 2 ** 20 };

async function makeHistory(plan = SMALL, clock = new ManualClock()) {
  const log = new RecordingLog();
  const history = new History(plan, { clock, log });
  onTestFinished(() => history.stop());
  await history.start();
  const fail = (name: string, weight = 1) =>
    history.addFailure({
      at: clock.now(),
      name,
      type: 'A',
      client: '10.244.1.7',
      rcode: 'SERVFAIL',
      milliseconds: 2,
      weight,
    });
  return { history, clock, log, fail };
}

const change = (sentence: string) =>
  ({ change: 'service', effect: 'bad', sentence, about: ['service shop/cart'] }) as const;

async function readAll(
  history: History,
  from = 0,
  to = Number.POSITIVE_INFINITY,
): Promise<readonly HistoryRecord[]> {
  const records: HistoryRecord[] = [];
  for await (const record of history.read(from, to)) records.push(record);
  return records.filter(({ kind }) => kind !== 'reach');
}

it('has a record for each minute, and the current one', async () => {
  const { history, clock, fail } = await makeHistory();
  fail('a.');
  clock.advance(MINUTE);
  fail('a.');
  fail('a.');
  expect(await readAll(history)).toMatchObject([
    { name: 'a.', count: 1 },
    { name: 'a.', count: 2 },
  ]);
  expect(await readAll(history, 0, clock.now() - MINUTE)).toMatchObject([{ count: 1 }]);
});

it('says what was left out', async () => {
  const { history, clock } = await makeHistory();
  history.lose(7);
  for (let number = 0; number < 5_000; number += 1) history.addChange(change(`${number}`));
  history.addChange({ change: 'upstream', effect: 'bad', sentence: 'down', about: [] });
  clock.advance(MINUTE);
  const records = await readAll(history);
  expect(records.filter(({ kind }) => kind === 'change')).toHaveLength(801);
  expect(records.at(-1)).toMatchObject({ kind: 'left-out', queries: 7, changes: 4_200 });
});

it('stays within its memory for days, whatever clients ask', async () => {
  const { history, clock, fail } = await makeHistory();
  for (let minute = 0; minute < 100; minute += 1) {
    for (let number = 0; number < 300; number += 1) fail(`${Math.random().toString(36).repeat(4)}.example.`);
    clock.advance(MINUTE);
  }
  expect(history.octets).toBeLessThanOrEqual(4 * 2 ** 20);
  expect((await readAll(history)).length).toBeGreaterThan(5_000);
});

describe('a file', () => {
  async function makeFile() {
    const { path } = await makeTemporaryFolder();
    return join(path, 'history');
  }

  it('survives a restart', async () => {
    const file = await makeFile();
    const first = await makeHistory({ ...SMALL, file });
    first.fail('a.');
    first.history.addChange(change('it went'));
    await first.history.stop();
    const second = await makeHistory({ ...SMALL, file }, first.clock);
    expect(await readAll(second.history)).toMatchObject([{ sentence: 'it went' }, { name: 'a.' }]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('is bounded, with its former part', async () => {
    const file = await makeFile();
    const { history, clock, fail } = await makeHistory({ ...SMALL, file });
    for (let minute = 0; minute < 60; minute += 1) {
      for (let number = 0; number < 900; number += 1) fail(`${minute}-${number}.${'x'.repeat(60)}.example.`);
      clock.advance(MINUTE);
      // The disk is real.
      await new Promise((resolve) => setImmediate(resolve));
    }
    await history.stop();
    expect(statSync(file).size + statSync(`${file}.1`).size).toBeLessThanOrEqual(SMALL.octets);
    const again = await makeHistory({ ...SMALL, file }, clock);
    expect((await readAll(again.history)).length).toBeGreaterThan(1_000);
  });

  it('may have lines of other programs', async () => {
    const file = await makeFile();
    writeFileSync(file, 'no JSON\n{"kind":"change"}\n[]\nnull\n{"kind":"failure","from":"today"}\n');
    const { history } = await makeHistory({ ...SMALL, file });
    expect(await readAll(history)).toEqual([]);
    history.addChange(change('it went'));
    await history.stop();
    expect(readFileSync(file, 'utf8')).toContain('it went');
  });

  it('that cannot be read is told, and the rest is kept', async () => {
    const file = await makeFile();
    mkdirSync(`${file}.1`);
    const first = await makeHistory({ ...SMALL, file });
    first.history.addChange(change('it went'));
    await first.history.stop();
    const { history, log } = await makeHistory({ ...SMALL, file }, first.clock);
    expect(await readAll(history)).toMatchObject([{ sentence: 'it went' }]);
    expect(log.records.map(({ message }) => message)).toContain('history not read');
  });

  it('that cannot be written is an outage, and nothing else is lost', async () => {
    const { history, log, fail, clock } = await makeHistory({ ...SMALL, file: '/proc/none/history' });
    fail('a.');
    clock.advance(MINUTE);
    await history.stop();
    expect(await readAll(history)).toMatchObject([{ name: 'a.' }]);
    expect(log.records.map(({ message }) => message)).toContain('history not written');
  });
});

it('reaches back to what it has not dropped', async () => {
  const { history, clock, fail } = await makeHistory({ ...SMALL, octets: 4.1 * 2 ** 20 });
  const begin = history.oldest;
  expect(begin).toBe(clock.now());
  for (let minute = 0; minute < 20; minute += 1) {
    for (let number = 0; number < 300; number += 1) fail(`${Math.random().toString(36).repeat(4)}.example.`);
    clock.advance(MINUTE);
  }
  expect(history.oldest).toBeGreaterThan(begin);
  expect((await readAll(history)).map(readSpan).every(({ to }) => to >= history.oldest)).toBe(true);
});

describe('another configuration', () => {
  async function replace(
    { history: former, clock, log }: Awaited<ReturnType<typeof makeHistory>>,
    plan: typeof SMALL,
  ) {
    const next = new History(plan, { clock, log });
    onTestFinished(() => next.stop());
    next.addChange(change('meanwhile'));
    await former.stop();
    await next.start(former);
    return next;
  }

  it('keeps what there was, and the minute that had begun', async () => {
    const first = await makeHistory();
    first.fail('a.');
    first.clock.advance(MINUTE);
    first.fail('b.');
    const next = await replace(first, { ...SMALL, octets: 9 * 2 ** 20 });
    expect(await readAll(next)).toMatchObject([{ name: 'a.' }, { name: 'b.' }, { sentence: 'meanwhile' }]);
    expect(next.oldest).toBe(first.history.oldest);
  });

  it('has each record of its file once', async () => {
    const { path } = await makeTemporaryFolder();
    const file = join(path, 'history');
    const first = await makeHistory({ ...SMALL, file });
    first.fail('a.');
    const next = await replace(first, { ...SMALL, file, octets: 9 * 2 ** 20 });
    expect(await readAll(next)).toMatchObject([{ name: 'a.' }, { sentence: 'meanwhile' }]);
    await next.stop();
    expect(readFileSync(file, 'utf8').trimEnd().split('\n')).toHaveLength(2);
  });

  it('takes what its file has from before', async () => {
    const { path } = await makeTemporaryFolder();
    const file = join(path, 'history');
    const earlier = await makeHistory({ ...SMALL, file });
    earlier.fail('a.');
    await earlier.history.stop();
    earlier.clock.advance(MINUTE);
    const first = await makeHistory(SMALL, earlier.clock);
    first.fail('b.');
    const next = await replace(first, { ...SMALL, file });
    expect(await readAll(next)).toMatchObject([{ name: 'a.' }, { name: 'b.' }, { sentence: 'meanwhile' }]);
  });
});
