import { describe, expect, it } from 'vitest';
import { DEFAULT_HISTORY } from '../../plan/history-plan.ts';
import { describeProblem } from '../values/problem.ts';
import { ValueReader } from '../values/value-reader.ts';
import { readHistoryWords } from './read-history.ts';

function read(...words: readonly string[]) {
  const reader = new ValueReader();
  const plan = readHistoryWords(reader, words);
  return { plan, problems: reader.problems.map(describeProblem) };
}

describe('a history', () => {
  it('is kept unless it is turned off', () => {
    expect(read().plan).toEqual(DEFAULT_HISTORY);
    expect(read('off').plan).toBeUndefined();
    expect(read('size=0').plan).toBeUndefined();
  });

  it('has a size, a file, and names as they are wanted', () => {
    const words = ['size=32M', 'file=/var/lib/portolan/history', 'names=hashed'];
    expect(read(...words)).toEqual({
      plan: { octets: 32 * 2 ** 20, file: '/var/lib/portolan/history', names: 'hashed' },
      problems: [],
    });
  });

  it.each([
    [['size=1M'], /^size: out of range: "1M"\. Give octets from 8M to 1G/],
    [['names=some'], /^names: unknown: "some"\. Give plain, hashed or none\./],
    [['file='], /^file: empty/],
    [['sise=8M'], /^history: unknown: "sise"/],
    [['size=0', 'file=/x'], /^file: cannot be given with size 0: "\/x"\. Leave one of them out\./],
  ])('cannot be %j', (words, problem) => {
    expect(read(...words).problems).toEqual([expect.stringMatching(problem)]);
  });
});
