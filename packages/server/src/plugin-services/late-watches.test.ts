import { systemClock } from '@portolan/kernel/base/clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import type { WatchedKind } from '@portolan/plugin';
import { expect, it } from 'vitest';
import { LateWatches } from './late-watches.ts';

// `follow` fails before it reads one.
const KIND = {} as unknown as WatchedKind<unknown>;

function make(load: () => Promise<never>) {
  const user = { name: 'test', clock: systemClock, log: new RecordingLog() };
  return new LateWatches(user, load);
}

it('tries again after a failure of its code, and ends without an error', async () => {
  let loads = 0;
  const watches = make(async () => {
    loads += 1;
    throw new Error(`load ${loads}`);
  });
  await expect(watches.follow(KIND, () => {})).rejects.toThrow('load 1');
  await expect(watches.follow(KIND, () => {})).rejects.toThrow('load 2');
  const last = watches.follow(KIND, () => {});
  const stopped = watches.stop();
  await expect(last).rejects.toThrow('load 3');
  await expect(stopped).resolves.toBeUndefined();
});

it('loads and follows nothing after the plugin has stopped', async () => {
  let loads = 0;
  const watches = make(async () => {
    loads += 1;
    throw new Error('loaded');
  });
  await watches.stop();
  await expect(watches.follow(KIND, () => {})).rejects.toThrow('the plugin has stopped');
  expect(loads).toBe(0);
});

it('follows nothing when the plugin stops while its code is loaded', async () => {
  const code = await import('./watches.ts');
  const user = { name: 'test', clock: systemClock, log: new RecordingLog() };
  const watches = new LateWatches(user, async () => code);
  const following = watches.follow(KIND, () => {});
  const stopped = watches.stop();
  await expect(following).rejects.toThrow('the plugin has stopped, and follows nothing more');
  await stopped;
});
