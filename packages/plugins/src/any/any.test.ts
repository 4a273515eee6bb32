import { presentRecord } from '@portolan/dns/present.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import { addresses, denial, makeQuery, told } from '@portolan/kernel/chain/testing/queries.ts';
import { toWholeAnswer } from '@portolan/kernel/chain/whole-answer.ts';
import { describe, expect, it } from 'vitest';
import { createAnyHandler } from './any.ts';

const passed: Answer = { kind: 'drop' };
const next = () => passed;
const obsolete = createAnyHandler('obsolete', () => true);
const minimal = createAnyHandler('minimal', () => true);
const refused = createAnyHandler('refused', (name) => name === 'a.');

describe('questions for ANY', () => {
  it.each([
    ['records', addresses('a.', '10.0.0.1')],
    ['nodata', denial('nodata')],
  ])('get one HINFO record where the name exists (%s)', async (_kind, answer) => {
    const types: number[] = [];
    const any = await minimal.handle(makeQuery('A.', 'ANY'), ({ question }) => {
      types.push(question.type);
      return answer;
    });
    expect(told(any)).toEqual(['records', 'A. 8482 IN HINFO "RFC8482" ""']);
    expect(types).not.toContain(255);
  });

  it.each([denial('nxdomain'), { kind: 'refused' }, { kind: 'servfail' }] as const)(
    'get %j where that is the answer',
    async (answer) => expect(await minimal.handle(makeQuery('a.', 'ANY'), () => answer)).toBe(answer),
  );

  it('are refused as kube-dns does', async () => {
    expect(await refused.handle(makeQuery('a.', 'ANY'), next)).toEqual({ kind: 'refused' });
    expect(await refused.handle(makeQuery('a.', 'A'), next)).toBe(passed);
  });

  it('about names of others pass', async () => {
    expect(await refused.handle(makeQuery('b.', 'ANY'), next)).toBe(passed);
  });

  it('get one HINFO record in a Corefile, whether or not the name exists', async () => {
    const answer = await obsolete.handle(makeQuery('A.example.', 'ANY'), next);
    if (answer.kind === 'drop') throw new Error('no answer');
    expect(toWholeAnswer(answer).answers.map(presentRecord)).toEqual([
      'A.example. 8482 IN HINFO "ANY obsoleted" "See RFC 8482"',
    ]);
    expect(await obsolete.handle(makeQuery('a.example.', 'A'), next)).toBe(passed);
  });
});
