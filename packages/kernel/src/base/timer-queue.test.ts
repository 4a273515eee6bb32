import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ManualClock } from './testing/manual-clock.ts';
import { QueuedTimer, TimerQueue } from './timer-queue.ts';

class Entry extends QueuedTimer {
  readonly #run: () => void;

  constructor(run: () => void) {
    super();
    this.#run = run;
  }

  due(): void {
    this.#run();
  }
}

function start() {
  const clock = new ManualClock();
  const line = new TimerQueue(clock);
  const seen: string[] = [];
  const set = (name: string, milliseconds: number) => {
    const entry = new Entry(() => void seen.push(`${name} at ${clock.monotonic()}`));
    line.set(entry, clock.monotonic() + milliseconds);
    return entry;
  };
  return { clock, line, seen, set };
}

describe('DueLine', () => {
  it('calls each after its time, in order, and sets one timer for all', () => {
    const { clock, seen, set } = start();
    set('one', 100);
    clock.advance(30);
    set('two', 100);
    set('three', 100);
    expect(clock.pending).toBe(1);
    clock.advance(99);
    expect(seen).toEqual(['one at 100']);
    clock.advance(1);
    expect(seen).toEqual(['one at 100', 'two at 130', 'three at 130']);
    expect(clock.pending).toBe(0);
  });

  it('forgets what is cancelled, the first and the last included, and what was never set', () => {
    const { clock, line, seen, set } = start();
    const first = set('first', 100);
    clock.advance(10);
    set('second', 100);
    const last = set('last', 100);
    for (const entry of [first, last, last, new Entry(() => {})]) line.cancel(entry);
    clock.advance(100);
    expect(seen).toEqual(['second at 110']);
    clock.advance(1000);
    expect(clock.pending).toBe(0);
  });

  it('takes an entry again while it is called', () => {
    const { clock, line } = start();
    let calls = 0;
    const again = new Entry(() => {
      calls += 1;
      if (calls < 3) line.set(again, clock.monotonic() + 100);
    });
    line.set(again, 100);
    clock.advance(300);
    expect(calls).toBe(3);
  });

  it('keeps every time, in whatever order they were set', () => {
    const step = fc.tuple(fc.nat(50), fc.nat(100), fc.boolean());
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const { clock, line, seen, set } = start();
        const expected: { readonly at: number; readonly text: string }[] = [];
        for (const [index, [pause, delay, isCancelled]] of steps.entries()) {
          clock.advance(pause);
          const at = clock.monotonic() + delay;
          const entry = set(String(index), delay);
          if (isCancelled) line.cancel(entry);
          else expected.push({ at, text: `${index} at ${at}` });
        }
        clock.advance(1000);
        expect(seen).toEqual(expected.sort((one, other) => one.at - other.at).map(({ text }) => text));
        expect(clock.pending).toBe(0);
      }),
    );
  });
});
