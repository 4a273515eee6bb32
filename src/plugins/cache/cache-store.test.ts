import { expect, it } from 'vitest';
import { makeQuery } from '../../chain/testing/queries.ts';
import { toCachedQuestion } from '../../forward/question-key.ts';
import { writeAnswerBody } from '../../table/answer-body.ts';
import { CACHED } from '../../table/layout.ts';
import { TableWriter } from '../../table/writer.ts';
import { encodeMessage } from '../../wire/message.ts';
import { parseName, toKey } from '../../wire/name.ts';
import { CACHE_OUTCOMES } from './cache-counts.ts';
import { CacheStore, type ReaderReply } from './cache-store.ts';

const TTL = 60;

function makeStore(capacity: number) {
  const table = new TableWriter({ readers: 1, reservation: 64 * 2 ** 20, seed: 4711 });
  const store = new CacheStore(table, {
    ...{ capacity: { success: capacity, denial: capacity }, keepsTtl: false, since: 0 },
  });
  const keyOf = (name: string) => makeQuery(name, 'A').questionKey;
  const answerOf = (name: string) => ({
    kind: 'message' as const,
    ...{ rcode: 0, authoritative: true, truncated: false, recursionAvailable: true, authenticData: false },
    answers: [
      { name: parseName(name), class: 1, ttl: TTL, data: { kind: 'A', address: '192.0.2.1' } as const },
    ],
    ...{ authorities: [], additionals: [] },
  });
  /** The reply as a reader hands it over. */
  const replyFor = (name: string): ReaderReply => {
    const key = keyOf(name);
    const question = toCachedQuestion(key);
    const written = writeAnswerBody(key, answerOf(name));
    if (written === undefined) throw new Error('an answer without a body');
    // The table encodes an entry as a reader does.
    const cached = {
      ...{ ...question, body: written.body, ttlOffsets: written.ttlOffsets, recursionAvailable: true },
      ...{ lifetime: TTL, outcome: CACHE_OUTCOMES.success },
    };
    table.cache(cached, 0, store.shared);
    const place = table.readCached(question, store.shared)?.place ?? 0;
    const words = new Uint32Array(table.memory).slice(place >> 2, (place >> 2) + 64);
    const entryLength = words[CACHED.SIZE >> 2] ?? 0;
    table.dropCached(question, store.shared);
    const { header } = makeQuery(name, 'A');
    const octets = encodeMessage({
      header,
      questions: [key],
      ...{ answers: [], authorities: [], additionals: [] },
      edns: undefined,
    });
    return {
      ...{ octets, start: 0, questionEnd: octets.length, flags: 0 },
      ...{ words, entryWord: 0, entryLength, entryLifetime: TTL },
    };
  };
  const put = (name: string) => store.putEncoded('success', replyFor(name), { isHeld: false, now: 0 });
  const isRead = (name: string) => table.hasCached(toCachedQuestion(keyOf(name)), store.shared);
  return { store, table, keyOf, answerOf, put, isRead };
}

it('keeps answers of readers without an item, finds them, and evicts the oldest', () => {
  const { store, put, keyOf, isRead } = makeStore(2);
  expect(['a.test.', 'b.test.', 'c.test.'].map(put)).toEqual(['stored', 'stored', 'evicted']);
  expect(store.sizeOf('success')).toBe(2);
  expect(['a.test.', 'b.test.', 'c.test.'].map(isRead)).toEqual([false, true, true]);
  expect(store.find('success', keyOf('a.test.'))).toBeUndefined();
  expect(store.find('denial', keyOf('b.test.'))).toBeUndefined();
  expect(store.find('success', keyOf('b.test.'))).toMatchObject({ item: { ttl: TTL, isShared: true } });
  // A look-up changes neither the size nor the order.
  expect(store.sizeOf('success')).toBe(2);
  expect(put('d.test.')).toBe('evicted');
  expect(store.find('success', keyOf('b.test.'))).toBeUndefined();
  expect([...store.stored('success')].map(({ item }) => item.ttl)).toEqual([TTL, TTL]);
});

it('has one answer for a question, whoever has made it', () => {
  const { store, put, keyOf, answerOf, isRead } = makeStore(2);
  const keep = (name: string, kind: 'success' | 'denial' = 'success') =>
    store.put(kind, keyOf(name), answerOf(name), { ttl: TTL, readSeconds: TTL, now: 0 });
  expect([keep('a.test.'), put('a.test.'), keep('b.test.')]).toEqual(['stored', 'stored', 'stored']);
  expect(store.sizeOf('success')).toBe(2);
  expect(put('c.test.')).toBe('evicted');
  expect(isRead('c.test.')).toBe(true);
  store.remove('success', keyOf('c.test.'));
  expect([store.has('success', keyOf('c.test.')), isRead('c.test.')]).toEqual([false, false]);
});

it('drops the answers of readers within a domain', () => {
  const { store, put, keyOf } = makeStore(4);
  put('a.x.test.');
  put('b.y.test.');
  store.removeWithin(toKey(parseName('x.test.')));
  expect(store.has('success', keyOf('a.x.test.'))).toBe(false);
  expect(store.has('success', keyOf('b.y.test.'))).toBe(true);
});
