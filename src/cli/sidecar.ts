/**
 * `portolan sidecar`: the sidecar of kube-dns, with its command line.
 */

import { systemClock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { formatRows, rowOf } from '../config/flags/flag-text.ts';
import { helpRow, klogRows } from '../config/flags/klog-flags.ts';
import { readSidecarFlags, SIDECAR_FLAGS } from '../config/sidecar/sidecar-flags.ts';
import { describeProblem } from '../config/values/problem.ts';
import { writeProcessMetrics } from '../roles/sidecar/process-metrics.ts';
import { Sidecar } from '../roles/sidecar/sidecar.ts';
import { runRole } from './run-role.ts';
import { VERSION } from './version.ts';

/** @param words what stands behind the command @returns the exit code */
export async function runSidecar(words: readonly string[]): Promise<number> {
  const reading = readSidecarFlags(words);
  switch (reading.kind) {
    case 'help':
      process.stdout.write(helpText());
      return 0;
    case 'version':
      process.stdout.write(`Portolan version ${VERSION}, in place of sidecar 1.26\n`);
      return 0;
    case 'bad':
      for (const problem of reading.problems)
        process.stderr.write(`portolan sidecar: ${describeProblem(problem)}\n`);
      return 2;
    case 'good': {
      const { plan, logLevel } = reading;
      const furtherMetrics = () => writeProcessMetrics(VERSION);
      const create = (log: Log) => new Sidecar(plan, { clock: systemClock, log, furtherMetrics });
      return await runRole({ command: 'sidecar', logLevel, create });
    }
  }
}

function helpText(): string {
  return `Usage: portolan sidecar [flags]

Probes DNS servers, and serves the results by HTTP: /healthcheck/LABEL, /healthz, /metrics.

${formatRows([...SIDECAR_FLAGS.map((flag) => rowOf(flag)), ...klogRows('--'), helpRow('--')])}
Flags may be written with one dash or two.
`;
}
