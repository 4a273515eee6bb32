/**
 * `portolan healthz`: the exechealthz of older pods, with its command line.
 */

import { systemClock } from '../base/clock.ts';
import { formatRows, rowOf } from '../config/flags/flag-text.ts';
import { helpRow, klogRows } from '../config/flags/klog-flags.ts';
import { HEALTHZ_FLAGS, type HealthzReading, readHealthzFlags } from '../config/healthz/healthz-flags.ts';
import { Healthz } from '../roles/healthz/healthz.ts';
import { runRoleCommand } from './run-role.ts';

/** @param words what stands behind the command @returns the exit code */
export async function runHealthz(words: readonly string[]): Promise<number> {
  const reading = readHealthzFlags(words);
  return await runRoleCommand<Extract<HealthzReading, { kind: 'good' }>>(reading, {
    name: 'healthz',
    inPlaceOf: 'exechealthz',
    helpText,
    logLevel: ({ logLevel }) => logLevel,
    create: ({ plan }, log) => new Healthz(plan, { clock: systemClock, log }),
  });
}

function helpText(): string {
  return `Usage: portolan healthz [flags]

Runs commands, and answers HTTP requests with 200 or 503 by their last results.

${formatRows([...HEALTHZ_FLAGS.map((flag) => rowOf(flag, '-')), ...klogRows('-'), helpRow('-')])}
-cmd and -url may be given several times, in pairs. Flags may be written with one dash or two.
`;
}
