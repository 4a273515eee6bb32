import { writeSortedFamilies } from '@portolan/kernel/base/metrics/text-format.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { expect, it } from 'vitest';
import { GoRuntimeMetrics } from './go-runtime.ts';

it('has the families that dashboards show of the run time', () => {
  const lines = writeSortedFamilies(new GoRuntimeMetrics().families()).split('\n');
  const names = [
    'go_goroutines',
    'go_threads',
    'go_memstats_alloc_bytes',
    'go_memstats_heap_inuse_bytes',
    'go_memstats_sys_bytes',
    'go_memstats_next_gc_bytes',
  ];
  for (const name of names) expect(lines.find((line) => line.startsWith(`${name} `))).toMatch(/ \d+$/);
  expect(lines).toContain(`go_info{version="node ${process.version}"} 1`);
  expect(lines).toContain('# TYPE go_gc_duration_seconds summary');
});

it.runIf(process.platform === 'linux')('counts the octets of the network, and the limit of memory', () => {
  const text = writeSortedFamilies(new GoRuntimeMetrics().families());
  expect(text).toMatch(/^process_network_receive_bytes_total \d+$/m);
  expect(text).toMatch(/^process_network_transmit_bytes_total \d+$/m);
  expect(text).toMatch(/^process_virtual_memory_max_bytes -?\d+$/m);
});

it('counts pauses for garbage collection', async () => {
  const runtime = new GoRuntimeMetrics();
  const count = (): number =>
    Number(/^go_gc_duration_seconds_count (\d+)$/m.exec(writeSortedFamilies(runtime.families()))?.[1]);
  const garbage: number[][] = [];
  await waitUntil('a garbage collection', () => count() > 0, {
    step: () => {
      for (let turn = 0; turn < 100; turn += 1) garbage.push(new Array(10_000).fill(turn));
      garbage.length = 0;
    },
  });
  expect(writeSortedFamilies(runtime.families())).toMatch(/^go_gc_duration_seconds_sum [\d.e-]+$/m);
});
