import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { expect, it } from 'vitest';
import { SecondBudget } from './second-budget.ts';

it('is spent after so many in a second, and full again in the next', () => {
  const clock = new ManualClock();
  const budget = new SecondBudget(2, clock);
  const spend = () => {
    const { isSpent } = budget;
    if (!isSpent) budget.spend();
    return isSpent;
  };
  expect([spend(), spend(), spend()]).toEqual([false, false, true]);
  clock.advance(999);
  expect(spend()).toBe(true);
  clock.advance(1);
  expect([spend(), spend(), spend()]).toEqual([false, false, true]);
});

it('is never spent without a number', () => {
  const budget = new SecondBudget(undefined, new ManualClock());
  for (let count = 0; count < 1_000; count += 1) {
    expect(budget.isSpent).toBe(false);
    budget.spend();
  }
});
