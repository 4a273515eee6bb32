/**
 * Metrics of the process itself, for a sidecar that runs as a separate program.
 */
import { PROCESS_METRICS } from '../../observe/metrics/process.ts';
import { writeLabels, writeMetrics } from '../../observe/metrics/text.ts';

export function writeProcessMetrics(version: string): string {
  const labels = writeLabels({ version, node: process.version });
  return writeMetrics([
    {
      name: 'portolan_build_info',
      help: 'Always 1: the labels say which build this is.',
      type: 'gauge',
      samples: [[labels, 1]],
    },
    ...PROCESS_METRICS.map(({ name, help, kind, read }) => ({
      name,
      help,
      type: kind,
      samples: Array.from(read(), ([, value]) => ['', value] as const),
    })),
  ]);
}
