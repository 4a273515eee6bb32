import fc from 'fast-check';
import { expect, it } from 'vitest';
import { BUSY_MILLISECONDS, FIRST_PAUSE_MILLISECONDS, ReaderDemand } from './reader-demand.ts';

const LOOK = 500;
const LOOKS_UNTIL_MORE = BUSY_MILLISECONDS / LOOK;
const shares = fc.double({ min: 0, max: 1, noNaN: true });

/** Simulates `judge` calls at equal intervals; `load` gives the work for a number of readers. */
class Simulation {
  readonly demand = new ReaderDemand();
  inUse: number;
  readonly history: number[] = [];

  constructor(inUse: number) {
    this.inUse = inUse;
  }

  run(looks: number, work: (inUse: number) => number): this {
    for (let look = 0; look < looks; look++) {
      this.inUse = this.demand.judge(this.inUse, work(this.inUse), LOOK);
      this.history.push(this.inUse);
    }
    return this;
  }
}

it('uses one reader more only when all in use were over 70 % busy for five seconds', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 16 }), fc.array(shares, { maxLength: 100 }), (first, looks) => {
      const demand = new ReaderDemand();
      let inUse = first;
      let busy = 0;
      for (const share of looks) {
        const next = demand.judge(inUse, share * inUse, LOOK);
        busy = share > 0.7 ? busy + 1 : 0;
        if (busy === LOOKS_UNTIL_MORE) expect(next).toBe(inUse + 1);
        else expect(next).toBeLessThanOrEqual(inUse);
        expect(next).toBeGreaterThan(0);
        if (next !== inUse) busy = 0;
        inUse = next;
      }
    }),
  );
});

it('settles at a number that is enough, whatever the load, and stays there', () => {
  const loads = fc.double({ min: 0, max: 16, noNaN: true });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 32 }), loads, (first, load) => {
      const simulation = new Simulation(first).run(500, (inUse) => Math.min(inUse, load));
      const { inUse, history } = simulation;
      expect(new Set(history.slice(-150))).toEqual(new Set([inUse]));
      expect(inUse * 0.7).toBeGreaterThanOrEqual(load);
      // The fewest readers that would be calm, or fewer.
      expect((inUse - 1) * 0.5).toBeLessThanOrEqual(load);
    }),
  );
});

it('grows by one at a time, each after five seconds', () => {
  const { history } = new Simulation(1).run(3 * LOOKS_UNTIL_MORE, (inUse) => inUse);
  expect(history.filter((inUse, look) => inUse !== (history[look - 1] ?? 1))).toEqual([2, 3, 4]);
  expect(history.indexOf(2)).toBe(LOOKS_UNTIL_MORE - 1);
  expect(history.indexOf(4)).toBe(3 * LOOKS_UNTIL_MORE - 1);
});

it('does with as few as were enough for the whole pause', () => {
  const demand = new ReaderDemand();
  // A pause that was too short, so that one of two calls acts.
  expect(demand.judge(8, 0.2, FIRST_PAUSE_MILLISECONDS)).toBe(1);
  demand.overloaded(1);
  expect(demand.judge(8, 0.9, LOOK)).toBe(8);
  expect(demand.judge(8, 1.2, LOOK)).toBe(3);
});

it('waits longer and longer for a load that comes and goes', () => {
  const demand = new ReaderDemand();
  let inUse = 1;
  const fewerAt: number[] = [];
  for (let second = 0; second < 600; second++) {
    // A burst in each second.
    if (inUse === 1) inUse = demand.overloaded(inUse);
    for (let look = 0; look < 2; look++) {
      const next = demand.judge(inUse, 0.1, LOOK);
      if (next < inUse) fewerAt.push(second);
      inUse = next;
    }
  }
  expect(fewerAt.length).toBeLessThan(20);
  expect((fewerAt.at(-1) ?? 0) - (fewerAt.at(-2) ?? 0)).toBeGreaterThanOrEqual(64);
  // Fewer readers that last for long reset the pause.
  for (let looks = 0; looks < 200 && demand.judge(2, 0.1, LOOK) === 2; looks++);
  for (let look = 0; look < 20; look++) demand.judge(1, 0.1, LOOK);
  demand.overloaded(1);
  expect(demand.judge(2, 0.1, LOOK)).toBe(1);
});
