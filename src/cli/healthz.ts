/**
 * `portolan healthz`: the exechealthz of older pods, with its command line.
 */

import { systemClock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { formatRows, rowOf } from '../config/flags/flag-text.ts';
import { helpRow, klogRows } from '../config/flags/klog-flags.ts';
import { HEALTHZ_FLAGS, readHealthzFlags } from '../config/healthz/healthz-flags.ts';
import { describeProblem } from '../config/values/problem.ts';
import { Healthz } from '../roles/healthz/healthz.ts';
import { runRole } from './run-role.ts';
import { VERSION } from './version.ts';

/** @param words what stands behind the command @returns the exit code */
export async function runHealthz(words: readonly string[]): Promise<number> {
  const reading = readHealthzFlags(words);
  switch (reading.kind) {
    case 'help':
      process.stdout.write(helpText());
      return 0;
    case 'version':
      process.stdout.write(`Portolan version ${VERSION}, in place of exechealthz\n`);
      return 0;
    case 'bad':
      for (const problem of reading.problems)
        process.stderr.write(`portolan healthz: ${describeProblem(problem)}\n`);
      return 2;
    case 'good': {
      const { plan, logLevel } = reading;
      const create = (log: Log) => new Healthz(plan, { clock: systemClock, log });
      return await runRole({ command: 'healthz', logLevel, create });
    }
  }
}

function helpText(): string {
  return `Usage: portolan healthz [flags]

Runs commands, and answers HTTP requests with 200 or 503 by their last results.

${formatRows([...HEALTHZ_FLAGS.map((flag) => rowOf(flag, '-')), ...klogRows('-'), helpRow('-')])}
-cmd and -url may be given several times, in pairs. Flags may be written with one dash or two.
`;
}
