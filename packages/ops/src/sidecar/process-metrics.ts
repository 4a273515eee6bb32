/**
 * Metrics of the process itself, for a sidecar that runs as a separate program.
 */
import type { MetricFamily } from '@portolan/kernel/base/metrics/family.ts';
import { buildFamily, PROCESS_METRICS } from '@portolan/server/observe/metrics/process.ts';

export function processFamilies(version: string): readonly MetricFamily[] {
  return [buildFamily(version), ...PROCESS_METRICS];
}
