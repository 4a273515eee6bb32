import { expect, it } from 'vitest';
import type { Answer } from '../../chain/answer.ts';
import { makeQuery } from '../../chain/testing/queries.ts';
import { wholeAnswerOf } from '../../chain/whole-answer.ts';
import { presentRecord } from '../../wire/present.ts';
import { createObsoleteAnyHandler } from './plugin.ts';

const passed: Answer = { kind: 'refused' };
const any = createObsoleteAnyHandler();

it('answers ANY with one HINFO record, whether or not the name exists', async () => {
  const answer = await any.handle(makeQuery('A.example.', 'ANY'), () => passed);
  if (answer.kind === 'drop') throw new Error('no answer');
  expect(wholeAnswerOf(answer).answers.map(presentRecord)).toEqual([
    'A.example. 8482 IN HINFO "ANY obsoleted" "See RFC 8482"',
  ]);
  expect(await any.handle(makeQuery('a.example.', 'A'), () => passed)).toBe(passed);
});
