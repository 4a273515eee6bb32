import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { DelayLine } from './delay-line.ts';

describe('DelayLine', () => {
  it('calls each after its delay, in order, and sets one timer for all', () => {
    const clock = new ManualClock();
    const line = new DelayLine(clock, 100);
    const seen: string[] = [];
    const set = (name: string) => line.after(() => void seen.push(`${name} at ${clock.monotonic()}`));
    set('one');
    clock.advance(30);
    set('two');
    set('three');
    expect(clock.pending).toBe(1);
    clock.advance(99);
    expect(seen).toEqual(['one at 100']);
    clock.advance(1);
    expect(seen).toEqual(['one at 100', 'two at 130', 'three at 130']);
    expect(clock.pending).toBe(0);
  });

  it('forgets what is cancelled, the first and the last included', () => {
    const clock = new ManualClock();
    const line = new DelayLine(clock, 100);
    const seen: string[] = [];
    const first = line.after(() => void seen.push('first'));
    clock.advance(10);
    line.after(() => void seen.push('second'));
    const last = line.after(() => void seen.push('last'));
    first.cancel();
    last.cancel();
    clock.advance(100);
    expect(seen).toEqual(['second']);
    clock.advance(1000);
    expect(clock.pending).toBe(0);
  });

  it('takes a new entry while one is called', () => {
    const clock = new ManualClock();
    const line = new DelayLine(clock, 100);
    let calls = 0;
    const again = () => {
      calls += 1;
      if (calls < 3) line.after(again);
    };
    line.after(again);
    clock.advance(300);
    expect(calls).toBe(3);
  });
});
