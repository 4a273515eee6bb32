import { describe, expect, it } from 'vitest';
import { addresses, denial, makeQuery, told } from '../../test/support/queries.ts';
import type { Answer } from '../chain/answer.ts';
import { CLASS } from '../wire/types.ts';
import { answerAnyMinimally, refuseAny } from './any.ts';
import { checkQuestionKind } from './question-kinds.ts';

const passed: Answer = { kind: 'drop' };
const next = () => passed;

describe('kinds of question', () => {
  it.each([
    ['A', 'drop'],
    ['TYPE65280', 'drop'],
    ['ANY', 'drop'],
    ['AXFR', 'refused'],
    ['IXFR', 'refused'],
    ['OPT', 'formerr'],
    ['TSIG', 'formerr'],
    ['TKEY', 'notimp'],
    ['MAILA', 'notimp'],
    ['MAILB', 'notimp'],
  ])('%s: %s', async (type, kind) =>
    expect((await checkQuestionKind(makeQuery('a.', type), next)).kind).toBe(kind),
  );

  it.each([CLASS.CH, CLASS.HS, CLASS.NONE, CLASS.ANY, 4711])('of class %i are refused', async (dnsClass) =>
    expect(await checkQuestionKind(makeQuery('a.', 'A', dnsClass), next)).toEqual({ kind: 'refused' }),
  );
});

describe('questions for ANY', () => {
  it.each([
    ['records', addresses('a.', '10.0.0.1')],
    ['nodata', denial('nodata')],
  ])('get one HINFO record where the name exists (%s)', async (_kind, answer) => {
    const types: number[] = [];
    const any = await answerAnyMinimally(makeQuery('A.', 'ANY'), ({ question }) => {
      types.push(question.type);
      return answer;
    });
    expect(told(any)).toEqual(['records', 'A. 8482 IN HINFO "RFC8482" ""']);
    expect(types).not.toContain(255);
  });

  it.each([denial('nxdomain'), { kind: 'refused' }, { kind: 'servfail' }] as const)(
    'get %j where that is the answer',
    async (answer) => expect(await answerAnyMinimally(makeQuery('a.', 'ANY'), () => answer)).toBe(answer),
  );

  it('are refused as kube-dns does', async () => {
    expect(await refuseAny(makeQuery('a.', 'ANY'), next)).toEqual({ kind: 'refused' });
    expect(await refuseAny(makeQuery('a.', 'A'), next)).toBe(passed);
  });
});
