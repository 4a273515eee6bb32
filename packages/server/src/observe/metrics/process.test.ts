import { closeSync, openSync } from 'node:fs';
import { expect, it } from 'vitest';
import { PROCESS_METRICS } from './process.ts';

function read(name: string): number | undefined {
  const metric = PROCESS_METRICS.find((each) => each.name === name);
  const [sample] = metric?.read() ?? [];
  return sample?.[1];
}

it('counts the descriptors that are open, and tells how many may be', () => {
  const before = read('process_open_fds') ?? 0;
  const descriptor = openSync('/dev/null', 'r');
  expect(read('process_open_fds')).toBe(before + 1);
  closeSync(descriptor);
  expect(read('process_max_fds')).toBeGreaterThan(before);
});

it('tells memory in octets, and times in seconds', () => {
  const resident = read('process_resident_memory_bytes') ?? 0;
  expect(resident).toBeGreaterThan(10e6);
  expect(read('process_virtual_memory_bytes')).toBeGreaterThan(resident);
  expect(read('process_start_time_seconds')).toBeGreaterThan(Date.now() / 1000 - 3600);
  expect(read('process_cpu_seconds_total')).toBeGreaterThan(0);
});
