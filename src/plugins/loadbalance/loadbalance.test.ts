import { expect, it } from 'vitest';
import type { Answer } from '../../chain/answer.ts';
import { alias, makeQuery, record } from '../../chain/testing/queries.ts';
import { EMPTY_ANSWER, wholeAnswerOf } from '../../chain/whole-answer.ts';
import { parseName } from '../../wire/name.ts';
import { presentRecord } from '../../wire/present.ts';
import { createLoadbalanceHandler } from './loadbalance.ts';

const address = (last: number) => record('b.', { kind: 'A', address: `192.0.2.${last}` });
const cname = record('a.', { kind: 'CNAME', target: parseName('b.') });
const text = record('b.', { kind: 'TXT', strings: [Buffer.from('x')] });

async function order(random: number, answer: Answer): Promise<readonly string[]> {
  const shuffled = await createLoadbalanceHandler(() => random).handle(makeQuery('a.'), () => answer);
  if (shuffled.kind === 'drop') throw new Error('no answer');
  return wholeAnswerOf(shuffled).answers.map((each) => presentRecord(each).replace(/^.* IN \w+ /, ''));
}

it('shuffles addresses, with aliases before them', async () => {
  const answers = [address(1), text, address(2), address(3), cname];
  expect(await order(0.99, { ...EMPTY_ANSWER, answers })).toEqual([
    'b.',
    '"x"',
    '192.0.2.1',
    '192.0.2.2',
    '192.0.2.3',
  ]);
  expect(await order(0, { ...EMPTY_ANSWER, answers })).toEqual([
    'b.',
    '"x"',
    '192.0.2.2',
    '192.0.2.3',
    '192.0.2.1',
  ]);
});

it.each([
  { ...EMPTY_ANSWER, rcode: 3, answers: [text, cname] } satisfies Answer,
  { kind: 'servfail' } as const,
])('leaves other answers alone', async (answer) =>
  expect(await createLoadbalanceHandler(() => 0).handle(makeQuery('a.'), () => answer)).toBe(answer),
);

it('leaves an alias that is yet to be followed with its record', async () => {
  expect(await order(0, alias('a.', 'b.'))).toEqual(['b.']);
});
