import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { expect, it } from 'vitest';
import { inSlices } from './yielding-text.ts';

async function collect(pieces: Iterable<string>, clock = new ManualClock()): Promise<readonly string[]> {
  const slices: string[] = [];
  for await (const slice of inSlices(pieces, clock)) slices.push(slice);
  return slices;
}

it('joins what is short and was quick', async () => {
  expect(await collect(['a', 'b', 'c'])).toEqual(['abc']);
  expect(await collect([])).toEqual([]);
});

it('gives out what is long before it goes on', async () => {
  const long = 'x'.repeat(40_000);
  expect((await collect([long, long, long])).map((slice) => slice.length)).toEqual([80_000, 40_000]);
});

it('lets others work after a while', async () => {
  const clock = new ManualClock();
  const turns: string[] = [];
  function* slowly() {
    for (const piece of ['a', 'b', 'c']) {
      turns.push(piece);
      if (piece === 'a') setImmediate(() => turns.push('others'));
      clock.advance(1);
      yield piece;
    }
  }
  expect(await collect(slowly(), clock)).toEqual(['ab', 'c']);
  expect(turns).toEqual(['a', 'b', 'others', 'c']);
});
