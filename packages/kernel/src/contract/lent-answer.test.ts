import type { Answer } from '@portolan/plugin';
import { expect, it } from 'vitest';
import { addresses, record } from '../chain/testing/queries.ts';
import { acceptAnswer, lendAnswer } from './lent-answer.ts';

it('copies records and octets, and takes an unchanged copy for its original', () => {
  const text = record('a.example.', { kind: 'TXT', strings: [Buffer.from('one'), Uint8Array.of(50)] });
  const original = { ...addresses('a.example.', '192.0.2.1'), additionals: [text] } as Answer;
  const lent = lendAnswer(original);
  expect(lent).toEqual(original);
  expect(acceptAnswer(lent)).toBe(original);
  if (lent.kind !== 'records') throw new TypeError(lent.kind);
  const [data] = lent.additionals.map((each) => each.data);
  if (data?.kind !== 'TXT') throw new TypeError('no text');
  for (const octets of data.strings) octets[0] = 33;
  expect(text.data).toEqual({ kind: 'TXT', strings: [Buffer.from('one'), Uint8Array.of(50)] });
  const changed = acceptAnswer(lent);
  expect(changed).not.toBe(original);
  expect(changed).toMatchObject({
    additionals: [{ data: { strings: [Uint8Array.from(Buffer.from('!ne')), Uint8Array.of(33)] } }],
  });
});

it('shows no stored form', () => {
  const memory = { kept: [1] };
  const original = {
    ...addresses('a.example.', '192.0.2.1'),
    kind: 'forwarded',
    memory,
  } as unknown as Answer;
  const lent = lendAnswer(original);
  expect(lent).toMatchObject({ memory: {} });
  expect(lent).not.toMatchObject({ memory });
  expect(acceptAnswer(lent)).toBe(original);
});
