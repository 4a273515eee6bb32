import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compareLists } from './list-difference.ts';
import { completeSteps } from './steps.ts';

const items = Array.from({ length: 5_000 }, (_, number) => ({ number }));

function expectDifference(before: readonly object[], after: readonly object[]): void {
  const { removed, added } = completeSteps(compareLists(before, after));
  const [first, second] = [new Set(before), new Set(after)];
  expect(removed).toEqual(before.filter((item) => !second.has(item)));
  expect(added).toEqual(after.filter((item) => !first.has(item)));
}

it('says what has come and gone, in whatever order', () => {
  const list = fc.shuffledSubarray(items.slice(0, 40));
  fc.assert(fc.property(list, list, (before, after) => expectDifference(before, after)));
});

it('says so of long lists of which a part is replaced', () => {
  const place = fc.nat({ max: items.length });
  const edit = fc.record({ from: place, count: fc.nat({ max: 2_500 }), to: place });
  fc.assert(
    fc.property(fc.array(edit, { maxLength: 3 }), (edits) => {
      const after = [...items];
      for (const { from, count, to } of edits) {
        const moved = after.splice(from, count);
        after.splice(to, 0, ...moved.slice(count / 3), { number: -1 });
      }
      expectDifference(items, after);
    }),
    { numRuns: 50 },
  );
});

it('pauses where nothing is alike', () => {
  const others = items.map(({ number }) => ({ number }));
  let pauses = 0;
  for (const steps = compareLists(items, others); steps.next().done !== true; ) pauses += 1;
  expect(pauses).toBeGreaterThan(10);
});
