import { afterEach, describe, expect, it } from 'vitest';
import { ChangeQueue } from './change-queue.ts';
import { ManualClock } from './testing/manual-clock.ts';
import { waitUntil } from './testing/wait-until.ts';

function makeQueue() {
  const clock = new ManualClock();
  const state = { left: 0, steps: 0, done: 0, cost: 0 };
  const step = () => {
    if (state.left === 0) return false;
    state.left -= 1;
    state.steps += 1;
    clock.advance(state.cost);
    return true;
  };
  const queue = new ChangeQueue(clock, step, () => {
    state.done += 1;
  });
  return { clock, state, queue };
}

let stop = () => {};
afterEach(() => stop());

describe('a queue of changes', () => {
  it('works off the first change after a quiet moment without a wait', async () => {
    const { clock, state, queue } = makeQueue();
    stop = () => queue.stop();
    state.left = 1;
    queue.schedule();
    await waitUntil('the change', () => state.done === 1);
    expect(clock.monotonic()).toBe(0);
    clock.advance(10);
    state.left = 1;
    queue.schedule();
    await waitUntil('the next change', () => state.done === 2);
    expect(clock.monotonic()).toBe(10);
  });

  it('works off in one go what changes within ten milliseconds after that', async () => {
    const { clock, state, queue } = makeQueue();
    stop = () => queue.stop();
    queue.schedule();
    await waitUntil('the first run', () => state.done === 1);
    state.left = 3;
    queue.schedule();
    clock.advance(9);
    queue.schedule();
    expect(state).toMatchObject({ steps: 0, done: 1 });
    clock.advance(1);
    expect(state).toMatchObject({ steps: 3, done: 2 });
    clock.advance(100);
    expect(state.done).toBe(2);
  });

  it('works in slices of two milliseconds, between which other work is done', async () => {
    const { clock, state, queue } = makeQueue();
    stop = () => queue.stop();
    state.left = 10;
    state.cost = 1;
    queue.schedule();
    await waitUntil('the first slice', () => state.steps > 0);
    expect(state.steps).toBe(2);
    // A second run must not begin meanwhile.
    queue.schedule();
    expect(clock.pending).toBe(0);
    await waitUntil('all is worked off', () => state.done === 1);
    expect(state.steps).toBe(10);
  });

  it('works everything off at once if asked to', () => {
    const { clock, state, queue } = makeQueue();
    state.left = 100;
    state.cost = 2;
    queue.schedule();
    queue.settle();
    expect(state).toMatchObject({ steps: 100, done: 1 });
    expect(clock.pending).toBe(0);
  });

  it('does nothing any more once stopped', () => {
    const { clock, state, queue } = makeQueue();
    state.left = 1;
    queue.schedule();
    queue.stop();
    queue.schedule();
    clock.advance(1000);
    expect(state.steps).toBe(0);
  });
});
