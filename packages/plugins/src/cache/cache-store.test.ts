import { parseName, toKey } from '@portolan/dns/name.ts';
import { CACHE_OUTCOMES } from '@portolan/kernel/chain/outcomes.ts';
import { makeQuery } from '@portolan/kernel/chain/testing/queries.ts';
import { toCachedQuestion } from '@portolan/kernel/forward/question-key.ts';
import { writeAnswerBody } from '@portolan/kernel/table/answer-body.ts';
import { CACHED } from '@portolan/kernel/table/layout.ts';
import { TableWriter } from '@portolan/kernel/table/writer.ts';
import { expect, it } from 'vitest';
import { CacheStore, type ReaderEntry } from './cache-store.ts';

const TTL = 60;

function makeStore(capacity: number, cacheOctets = 2 ** 24) {
  // Two tables of the same seed: entries of one fit the other.
  const [table, other] = [1, 2].map(
    () => new TableWriter({ readers: 1, reservation: 64 * 2 ** 20, cacheOctets, seed: 4711 }),
  ) as [TableWriter, TableWriter];
  const options = { capacity: { success: capacity, denial: capacity }, keepsTtl: false, keepsExpired: true };
  const [store] = [new CacheStore(table, options), new CacheStore(other, options)];
  const toQuestionKey = (name: string) => makeQuery(name, 'A').questionKey;
  const makeAnswer = (name: string) => ({
    kind: 'message' as const,
    rcode: 0,
    authoritative: true,
    truncated: false,
    recursionAvailable: true,
    authenticData: false,
    answers: [
      { name: parseName(name), class: 1, ttl: TTL, data: { kind: 'A', address: '192.0.2.1' } as const },
    ],
    authorities: [],
    additionals: [],
  });
  /** The reply as a reader hands it over. */
  const replyFor = (name: string): ReaderEntry => {
    const key = toQuestionKey(name);
    const question = toCachedQuestion(key);
    const written = writeAnswerBody(key, makeAnswer(name));
    if (written === undefined) throw new Error('an answer without a body');
    // The table encodes an entry as a reader does.
    const cached = {
      ...question,
      body: written.body,
      ttlOffsets: written.ttlOffsets,
      recursionAvailable: true,
      lifetime: TTL,
      outcome: CACHE_OUTCOMES.success,
    };
    let place = 0;
    const ignore = () => {};
    const added = (_: number, at: number) => {
      place = at;
    };
    other.watchCached(store.shared, { added, gone: ignore, moved: ignore });
    other.cache(cached, 0, store.shared);
    const words = new Uint32Array(other.memory).slice(place >> 2, (place >> 2) + 64);
    const entryLength = words[CACHED.SIZE >> 2] ?? 0;
    return { words, entryWord: 0, entryLength };
  };
  const put = (name: string) => store.putEncoded('success', replyFor(name), 0);
  const isRead = (name: string) =>
    table.readCached(toCachedQuestion(toQuestionKey(name)), store.shared) !== undefined;
  return { store, table, toQuestionKey, makeAnswer, put, isRead };
}

it('keeps answers of readers without an item, finds them, and evicts the oldest', () => {
  const { store, put, toQuestionKey, isRead } = makeStore(2);
  expect(['a.test.', 'b.test.', 'c.test.'].map(put)).toEqual(['stored', 'stored', 'evicted']);
  expect(store.countEntries('success')).toBe(2);
  expect(['a.test.', 'b.test.', 'c.test.'].map(isRead)).toEqual([false, true, true]);
  expect(store.find(toQuestionKey('a.test.'))).toEqual({});
  expect(store.find(toQuestionKey('b.test.'))).toMatchObject({
    success: { entry: { lifetime: TTL }, isHidden: false },
  });
  // A look-up changes neither the size nor the order.
  expect(store.countEntries('success')).toBe(2);
  expect(put('d.test.')).toBe('evicted');
  expect(store.find(toQuestionKey('b.test.'))).toEqual({});
  expect([...store.stored(false)].map(({ entry }) => entry.lifetime)).toEqual([TTL, TTL]);
});

it('has one answer for a question, whoever has made it', () => {
  const { store, put, toQuestionKey, makeAnswer, isRead } = makeStore(2);
  const keep = (name: string, kind: 'success' | 'denial' = 'success') =>
    store.put(kind, toQuestionKey(name), makeAnswer(name), { ttl: TTL, readSeconds: TTL, now: 0 });
  expect([keep('a.test.'), put('a.test.'), keep('b.test.')]).toEqual(['stored', 'stored', 'stored']);
  expect(store.countEntries('success')).toBe(2);
  expect(put('c.test.')).toBe('evicted');
  expect(isRead('c.test.')).toBe(true);
  const { success } = store.find(toQuestionKey('c.test.'));
  if (success !== undefined) store.remove(success);
  expect([store.find(toQuestionKey('c.test.')), isRead('c.test.'), store.countEntries('success')]).toEqual([
    {},
    false,
    1,
  ]);
});

it('counts the answers that are there, though the table moves and evicts some', () => {
  // Room for some hundred answers.
  const { store, table, toQuestionKey, makeAnswer } = makeStore(1000, 2 ** 14);
  const keep = (name: string) =>
    store.put('success', toQuestionKey(name), makeAnswer(name), { ttl: TTL, readSeconds: TTL, now: 0 });
  const countThere = () => [true, false].flatMap((isUsed) => [...store.stored(isUsed)]).length;
  for (let index = 0; index < 2000; index++) {
    keep(`n${index % 700}.test.`);
    if (index % 50 === 0) keep('again.test.');
    expect(store.countEntries('success')).toBe(table.statistics().cached);
  }
  expect(table.statistics().evictions).toBeGreaterThan(1000);
  expect(store.countEntries('success')).toBe(countThere());
});

it('counts no answer that an earlier handler has made of one of its own', () => {
  const { store, table, put, toQuestionKey } = makeStore(2);
  put('a.test.');
  const { success } = store.find(toQuestionKey('a.test.'));
  if (success === undefined) throw new Error('no answer');
  for (let turn = 0; turn < 3; turn++)
    expect(table.cache({ ...success.entry, beforeCache: true }, 0, store.shared)).toBe(true);
  expect([store.countEntries('success'), table.statistics().cached]).toEqual([1, 2]);
  table.dropCached({ ...success.entry, beforeCache: true }, store.shared);
  expect([store.countEntries('success'), table.statistics().cached]).toEqual([1, 1]);
});

it('keeps its capacity though the table moves answers', () => {
  const { store, table, toQuestionKey, makeAnswer } = makeStore(600);
  const keep = (name: string) =>
    store.put('success', toQuestionKey(name), makeAnswer(name), { ttl: TTL, readSeconds: TTL, now: 0 });
  for (let index = 0; index < 500; index++) keep(`cold${index}.test.`);
  // Enough to move all others several times.
  for (let turn = 0; turn < 40_000; turn++) keep(`hot${turn % 50}.test.`);
  expect([store.countEntries('success'), table.statistics().cached]).toEqual([550, 550]);
  for (let index = 0; index < 1000; index++) keep(`new${index}.test.`);
  expect([store.countEntries('success'), table.statistics().cached]).toEqual([600, 600]);
});

it('drops the answers of readers within a domain', () => {
  const { store, put, toQuestionKey } = makeStore(4);
  put('a.x.test.');
  put('b.y.test.');
  store.removeWithin(toKey(parseName('x.test.')));
  expect(store.countEntries('success')).toBe(1);
  expect(store.find(toQuestionKey('a.x.test.'))).toEqual({});
  expect(store.find(toQuestionKey('b.y.test.')).success).toBeDefined();
});

it('has an answer of each kind, of which readers find one, and lets the other take its place', () => {
  const { store, toQuestionKey, makeAnswer, put } = makeStore(2);
  const lifetime = { ttl: TTL, readSeconds: TTL, now: 0 };
  const key = toQuestionKey('a.test.');
  put('a.test.');
  expect(store.put('denial', key, { ...makeAnswer('a.test.'), answers: [], rcode: 3 }, lifetime)).toBe(
    'stored',
  );
  const before = store.find(key);
  expect([before.success?.isHidden, before.denial?.isHidden]).toEqual([false, true]);
  expect(before.denial && store.share(before.denial, true, TTL)).toBe(TTL * 1000);
  const after = store.find(key);
  expect([after.success?.isHidden, after.denial?.isHidden]).toEqual([true, false]);
  expect([after.success?.entry.body.rcode, after.denial?.entry.body.rcode]).toEqual([0, 3]);
  expect([store.countEntries('success'), store.countEntries('denial')]).toEqual([1, 1]);
});
