import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { countCores, quota, readersAtOnceFor } from './cores.ts';

function controlGroup(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'cgroup-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'cpu'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

it.each([
  [{ 'cpu.max': '150000 100000\n' }, 1.5],
  [{ 'cpu.max': 'max 100000\n' }, Number.POSITIVE_INFINITY],
  [{ 'cpu/cpu.cfs_quota_us': '200000\n', 'cpu/cpu.cfs_period_us': '100000\n' }, 2],
  [{ 'cpu/cpu.cfs_quota_us': '-1\n', 'cpu/cpu.cfs_period_us': '100000\n' }, Number.POSITIVE_INFINITY],
  [{}, Number.POSITIVE_INFINITY],
])('reads the quota of %j', (files, cores) => {
  expect(quota(controlGroup(files))).toBe(cores);
});

it('never counts less than a part of a core', () => {
  expect(countCores()).toBeGreaterThan(0);
});

it.each([
  [0.5, 1],
  [2, 1],
  [3.5, 2],
  [64, 4],
])('on %d cores %d readers are started at once', (cores, readers) => {
  expect(readersAtOnceFor(cores)).toBe(readers);
});
