import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { expect, it } from 'vitest';
import { releaseAfterStart } from './release-after-start.ts';

const MEBIOCTET = 1024 * 1024;

function start() {
  const clock = new ManualClock();
  const process = { resident: 60 * MEBIOCTET, releases: 0 };
  const release = async () => {
    process.releases += 1;
    process.resident -= MEBIOCTET;
  };
  releaseAfterStart(release, clock, () => process.resident);
  const passes = async (milliseconds: number) => {
    clock.advance(milliseconds);
    // Releasing goes on after its promise.
    await Promise.resolve();
    await Promise.resolve();
  };
  return { process, passes };
}

it('releases what the start needed, twice', async () => {
  const { process, passes } = start();
  await passes(500);
  expect(process.releases).toBe(1);
  await passes(2_500);
  expect(process.releases).toBe(2);
});

it('releases again after each growth, and not while memory stays', async () => {
  const { process, passes } = start();
  await passes(3_000);
  for (let minute = 0; minute < 6; minute++) await passes(10_000);
  expect(process.releases).toBe(2);
  process.resident += 20 * MEBIOCTET;
  await passes(10_000);
  expect(process.releases).toBe(3);
  // Memory in use stays, and is the new floor.
  await passes(10_000);
  expect(process.releases).toBe(3);
  process.resident += 7 * MEBIOCTET;
  await passes(10_000);
  expect(process.releases).toBe(3);
  process.resident += 2 * MEBIOCTET;
  await passes(10_000);
  expect(process.releases).toBe(4);
});
