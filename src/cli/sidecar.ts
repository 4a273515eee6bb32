/**
 * `portolan sidecar`: the sidecar of kube-dns, with its command line.
 */

import { systemClock } from '../base/clock.ts';
import { formatRows, rowOf } from '../config/flags/flag-text.ts';
import { helpRow, klogRows } from '../config/flags/klog-flags.ts';
import { readSidecarFlags, SIDECAR_FLAGS, type SidecarReading } from '../config/sidecar/sidecar-flags.ts';
import { writeProcessMetrics } from '../roles/sidecar/process-metrics.ts';
import { Sidecar } from '../roles/sidecar/sidecar.ts';
import { runRoleCommand } from './run-role.ts';
import { VERSION } from './version.ts';

/** @param words what stands behind the command @returns the exit code */
export async function runSidecar(words: readonly string[]): Promise<number> {
  const reading = readSidecarFlags(words);
  return await runRoleCommand<Extract<SidecarReading, { kind: 'good' }>>(reading, {
    name: 'sidecar',
    inPlaceOf: 'sidecar 1.26',
    helpText,
    logLevel: ({ logLevel }) => logLevel,
    create: ({ plan }, log) =>
      new Sidecar(plan, { clock: systemClock, log, furtherMetrics: () => writeProcessMetrics(VERSION) }),
  });
}

function helpText(): string {
  return `Usage: portolan sidecar [flags]

Probes DNS servers, and serves the results by HTTP: /healthcheck/LABEL, /healthz, /metrics.

${formatRows([...SIDECAR_FLAGS.map((flag) => rowOf(flag)), ...klogRows('--'), helpRow('--')])}
Flags may be written with one dash or two.
`;
}
