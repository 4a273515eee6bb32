import { gunzipSync } from 'node:zlib';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { expect, it } from 'vitest';
import type { ProfileData } from './profile-message.ts';
import { profileRoutes, type TakeProfile } from './profile-routes.ts';
import { profileCpu, profileHeap, readCpuProfile } from './v8-profiles.ts';

const EMPTY: ProfileData = { types: [['cpu', 'nanoseconds']], samples: [], time: 0, duration: 0, period: 0 };
const waiting: TakeProfile = async (wait) => {
  await wait();
  return EMPTY;
};

/** The reply of a path after the given time. */
async function get(path: string, query = '', seconds = 60) {
  const clock = new ManualClock();
  const routes = profileRoutes({ clock, takeCpu: waiting, takeHeap: waiting });
  const route = routes.get(path);
  if (route === undefined) return undefined;
  const reply = route(new URLSearchParams(query));
  clock.advance(seconds * 1000);
  return await reply;
}

it('takes a profile for as long as it is asked to', async () => {
  const reply = await get('/debug/pprof/profile', 'seconds=2', 2);
  expect(reply).toMatchObject({ status: 200, type: 'application/octet-stream' });
  expect(gunzipSync(reply?.body as Uint8Array).length).toBeGreaterThan(10);
  expect((await get('/debug/pprof/heap'))?.status).toBe(200);
  expect((await get('/debug/pprof/profile', 'seconds=0'))?.status).toBe(400);
  expect((await get('/debug/pprof/profile', 'seconds=x'))?.status).toBe(400);
});

it('says what there is not', async () => {
  expect((await get('/debug/pprof/goroutine'))?.status).toBe(501);
  expect((await get('/debug/pprof/'))?.body).toContain('/debug/pprof/profile');
  expect(await get('/debug/pprof/nosuch')).toBeUndefined();
});

it('takes one profile at a time, for a minute at most, and gives it to all who ask meanwhile', async () => {
  const clock = new ManualClock();
  let taken = 0;
  const takeCpu: TakeProfile = (wait) => {
    taken += 1;
    return waiting(wait);
  };
  const route = profileRoutes({ clock, takeCpu }).get('/debug/pprof/profile');
  expect((await route?.(new URLSearchParams('seconds=61')))?.status).toBe(400);
  const first = route?.(new URLSearchParams());
  const other = route?.(new URLSearchParams('seconds=60'));
  clock.advance(30_000);
  expect([(await first)?.status, (await other)?.status, taken]).toEqual([200, 200, 1]);
  const again = route?.(new URLSearchParams());
  clock.advance(30_000);
  expect((await again)?.status).toBe(200);
});

it('adds up the time of each stack, without that in which there was nothing to do', () => {
  const frame = (functionName: string) => ({
    functionName,
    scriptId: '1',
    url: 'a.js',
    lineNumber: 6,
    columnNumber: 0,
  });
  const profile = readCpuProfile(
    {
      nodes: [
        { id: 1, callFrame: frame('(root)'), children: [2, 4] },
        { id: 2, callFrame: frame('outer'), children: [3] },
        { id: 3, callFrame: frame('') },
        { id: 4, callFrame: frame('(idle)') },
      ],
      startTime: 0,
      endTime: 40_000,
      samples: [3, 4, 3, 2],
      timeDeltas: [10, 20, 30, 40],
    },
    1000,
  );
  const outer = { name: 'outer', file: 'a.js', line: 7 };
  expect(profile.samples).toEqual([
    { stack: [{ ...outer, name: '(anonymous)' }, outer], values: [2, 40_000] },
    { stack: [outer], values: [1, 40_000] },
  ]);
  expect(profile).toMatchObject({ time: 960, duration: 40, period: 10_000_000 });
});

it('takes both kinds from V8', async () => {
  const cpu = await profileCpu(async () => JSON.stringify(Array.from({ length: 200_000 })).length);
  expect(cpu.types.map(([type]) => type)).toEqual(['samples', 'cpu']);
  const kept: unknown[] = [];
  const heap = await profileHeap(async () => {
    for (let count = 0; count < 50_000; count += 1) kept.push({ count, text: `${count}` });
    return kept.length;
  });
  expect(kept).toHaveLength(50_000);
  expect(heap.samples.length).toBeGreaterThan(0);
});
