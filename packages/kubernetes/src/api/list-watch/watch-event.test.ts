import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readWatchEvent } from './watch-event.ts';

const read = (value: unknown) => readWatchEvent(JSON.stringify(value), 0);
const metadata = { name: 'a', resourceVersion: '7' };

test.each([
  ['ADDED', 'upsert'],
  ['MODIFIED', 'upsert'],
  ['DELETED', 'delete'],
] as const)('%s', (type, kind) => {
  expect(read({ type, object: { metadata } })).toEqual({ kind, object: { metadata }, resourceVersion: '7' });
});

test('a bookmark is its resource version, and may end the initial events', () => {
  const bookmark = { kind: 'bookmark', resourceVersion: '7', endsInitialEvents: false };
  expect(read({ type: 'BOOKMARK', object: { metadata, spec: {} } })).toEqual(bookmark);
  const annotations = { 'k8s.io/initial-events-end': 'true' };
  const ending = read({ type: 'BOOKMARK', object: { metadata: { ...metadata, annotations } } });
  expect(ending).toEqual({ ...bookmark, endsInitialEvents: true });
});

test.each([
  [{ code: 410, message: 'too old resource version: 1 (2)' }, 'expired'],
  [{ code: 500, message: 'x' }, 'server'],
  [{ code: 403 }, 'permission'],
  [{}, 'server'],
  [null, 'server'],
])('ERROR %o is %s', (object, kind) => {
  expect(read({ type: 'ERROR', object })).toMatchObject({ kind: 'error', failure: { kind } });
});

test('any line at all is some event', () => {
  const odd = fc.record({ type: fc.string(), object: fc.jsonValue() }).map((value) => JSON.stringify(value));
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json(), odd), (line) => {
      const { kind } = readWatchEvent(line, 0);
      expect(['upsert', 'delete', 'bookmark', 'error', 'broken']).toContain(kind);
    }),
  );
});
