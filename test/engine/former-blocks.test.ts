/**
 * Blocks that are replaced keep their names until no reader answers by them: in the middle of a batch, a reader would deny these names.
 */
import { compilePlan } from '@portolan/frontends/coredns/settings/testing/compile-plan.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { expect, it } from 'vitest';
import { ReaderSubject } from '../coredns/reader-subject.ts';

const corefile = (address: string) => `. {\n  hosts {\n    ${address} own.example\n    no_reverse\n  }\n}\n`;

it('keeps names until readers have left their batches', async () => {
  const clock = new ManualClock();
  const { engine } = new ReaderSubject(corefile('192.0.2.7'), clock);
  await engine.start();
  const countNames = () => engine.table.statistics().nodes;
  const before = countNames();
  const reader = engine.reader;

  reader.enter();
  const next = await engine.makeBlocks(compilePlan(corefile('192.0.2.8')));
  if (next === undefined) throw new Error('no blocks');
  const replaced = engine.replaceBlocks(next);
  let isStopped = false;
  void replaced.stop().then(() => {
    isStopped = true;
  });
  const pass = async (milliseconds: number) => {
    for (let each = 0; each < milliseconds; each += 1) {
      clock.advance(1);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await pass(20);
  expect([isStopped, countNames()]).toEqual([false, 2 * before]);

  reader.leave();
  const isOver = () => isStopped && countNames() === before;
  await waitUntil('the end of the former blocks', isOver, { step: () => clock.advance(1) });
});
