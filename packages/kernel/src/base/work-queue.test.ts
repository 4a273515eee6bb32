import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WorkQueue } from './work-queue.ts';

describe('a waiting list', () => {
  it('gives out each thing once, in the order they came, like a set whose first entry is taken', () => {
    const action = fc.oneof(fc.constantFrom('a', 'b', 'c', 'd'), fc.constant(undefined));
    fc.assert(
      fc.property(fc.array(action), (actions) => {
        const list = new WorkQueue<string>();
        const model = new Set<string>();
        for (const item of actions) {
          if (item === undefined) {
            const [first] = model;
            if (first !== undefined) model.delete(first);
            expect(list.take()).toBe(first);
          } else {
            list.add(item);
            model.add(item);
          }
          expect(list.size).toBe(model.size);
        }
      }),
    );
  });
});
