import { expect, it } from 'vitest';
import { trimOther } from './trim-other.ts';

const named = (metadata: object) => ({ metadata });

it.each([
  [named({ name: 'x', namespace: 'a' }), { kind: 'object', object: { kind: 'Other', key: 'a/x', value: 1 } }],
  [named({ name: 'n' }), { kind: 'object', object: { kind: 'Other', key: 'n', value: 1 } }],
  [named({ name: '' }), { kind: 'malformed', key: undefined }],
  [null, { kind: 'malformed', key: undefined }],
])('keeps what is read of an object, by its key: %j', (raw, expected) => {
  expect(trimOther(raw, () => 1)).toMatchObject(expected);
});

it('leaves out what is not read, and what cannot be read', () => {
  const raw = named({ name: 'x', namespace: 'a' });
  expect(trimOther(raw, () => undefined)).toEqual({ kind: 'left-out', key: 'a/x' });
  const failing = trimOther(raw, () => {
    throw new TypeError('no list');
  });
  expect(failing).toEqual({ kind: 'malformed', key: 'a/x', problem: 'no list' });
});
