import { expect, it } from 'vitest';
import { TransferTurns } from './transfer-turns.ts';

it('lets so many go at once, and the next when one ends', async () => {
  const turns = new TransferTurns(2);
  const taken: number[] = [];
  const ends = [1, 2, 3, 4].map((number) =>
    turns.take().then((end) => {
      taken.push(number);
      return end;
    }),
  );
  (await ends[0])?.();
  await ends[2];
  expect(taken).toEqual([1, 2, 3]);
  (await ends[1])?.();
  (await ends[2])?.();
  (await ends[3])?.();
  await Promise.all([turns.take(), turns.take()]);
});
