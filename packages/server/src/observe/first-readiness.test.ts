import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { expect, it } from 'vitest';
import { FirstReadiness } from './first-readiness.ts';

function start() {
  const clock = new ManualClock();
  let isReady = false;
  const readiness = new FirstReadiness(() => isReady, clock);
  const settled: string[] = [];
  const ask = (name: string) => void readiness.wait().then(() => settled.push(name));
  const advance = async (milliseconds: number) => {
    for (let passed = 0; passed < milliseconds; passed += 10) {
      clock.advance(10);
      await Promise.resolve();
      await Promise.resolve();
    }
  };
  const setReady = (ready: boolean) => {
    isReady = ready;
  };
  return { settled, ask, advance, setReady };
}

it('holds a probe until the server is ready', async () => {
  const { settled, ask, advance, setReady } = start();
  ask('first');
  await advance(500);
  expect(settled).toEqual([]);
  setReady(true);
  await advance(20);
  expect(settled).toEqual(['first']);
});

it('answers a probe before its timeout of one second', async () => {
  const { settled, ask, advance } = start();
  ask('first');
  await advance(700);
  expect(settled).toEqual([]);
  await advance(150);
  expect(settled).toEqual(['first']);
});

it('holds no probe of a server that was ready before', async () => {
  const { settled, ask, advance, setReady } = start();
  setReady(true);
  ask('first');
  await advance(0);
  setReady(false);
  ask('second');
  await Promise.resolve();
  await Promise.resolve();
  expect(settled).toEqual(['first', 'second']);
});
