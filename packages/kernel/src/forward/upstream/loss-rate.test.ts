import { expect, it } from 'vitest';
import { LossRate } from './loss-rate.ts';

function makeLossRate(lost: number, answered: number): LossRate {
  const losses = new LossRate();
  for (let turn = 0; turn < 1000; turn += 1) {
    losses.noteLost(lost);
    losses.noteAnswered(answered);
  }
  return losses;
}

it('is what part of the last queries was lost', () => {
  expect(new LossRate().rate).toBe(0);
  expect(makeLossRate(1, 1).rate).toBeCloseTo(0.5, 1);
  const losses = makeLossRate(1, 9);
  expect(losses.rate).toBeCloseTo(0.1, 1);
  losses.noteAnswered(100_000);
  expect(losses.rate).toBeLessThan(0.001);
});

it('is not high after a single loss', () => {
  const losses = new LossRate();
  losses.noteLost(1);
  expect(losses.rate).toBeLessThan(0.2);
});

it('says how many queries in a row a loss does not explain', () => {
  const rows = [
    new LossRate(),
    makeLossRate(1, 9),
    makeLossRate(3, 7),
    makeLossRate(1, 1),
    makeLossRate(9, 1),
    makeLossRate(1, 0),
  ];
  expect(rows.map(({ improbableRow }) => improbableRow)).toEqual([6, 6, 12, 20, 60, 60]);
});
