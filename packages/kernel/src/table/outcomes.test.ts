import { expect, it } from 'vitest';
import { FIRST_OUTCOMES } from './layout.ts';
import { NO_OUTCOME, numberEntries, OutcomeNames, OutcomeRanges } from './outcomes.ts';
import { VIEW_PATHS } from './types.ts';

it('names have one outcome each, as far as every table has counters', () => {
  // Of its own: the names of the process are few, and other tests run in it.
  const names = new OutcomeNames();
  const one = names.assignOutcome('one');
  const other = names.assignOutcome('other');
  expect(new Set([NO_OUTCOME, one, other]).size).toBe(3);
  expect(names.assignOutcome('one')).toBe(one);
  const takeAll = () => {
    for (let more = 0; more < FIRST_OUTCOMES; more++)
      expect(names.assignOutcome(`more ${more}`)).toBeLessThan(FIRST_OUTCOMES);
  };
  expect(takeAll).toThrow('more outcomes than a table has counters for: more');
});

it('ranges of views follow each other, behind those with a name', () => {
  const ranges = new OutcomeRanges();
  expect([ranges.take(8), ranges.take(4), ranges.take(1)]).toEqual([16, 24, 28]);
  expect(FIRST_OUTCOMES % VIEW_PATHS).toBe(0);
  expect(ranges.take(65_536)).toBeUndefined();
});

it('entries are numbered within a range', () => {
  expect(numberEntries('success', 'denial')).toEqual({ success: 0, denial: 1 });
});
