/**
 * `portolan healthz`: the exechealthz of older pods, with its command line.
 */
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { needPrograms } from '@portolan/kernel/base/other-programs.ts';
import { Healthz } from '@portolan/ops/healthz/healthz.ts';
import {
  HEALTHZ_FLAGS,
  type HealthzReading,
  readHealthzFlags,
} from '@portolan/ops/healthz/settings/healthz-flags.ts';
import type { RunCommand } from '../grammar/command.ts';
import { EITHER_DASHES, helpText } from '../grammar/help-text.ts';
import { runRoleCommand } from './run-role.ts';

export const runHealthz: RunCommand = async (words, command) => {
  const reading = readHealthzFlags(words);
  return await runRoleCommand<Extract<HealthzReading, { kind: 'good' }>>(reading, {
    name: 'healthz',
    replacedProgram: 'exechealthz',
    helpText: () =>
      helpText(command, HEALTHZ_FLAGS, {
        about: 'Runs commands, and answers HTTP requests with 200 or 503 by their last results.',
        notes: `-cmd and -url may be given several times, in pairs. ${EITHER_DASHES}`,
      }),
    logLevel: ({ logLevel }) => logLevel,
    create: ({ plan }, log) => {
      needPrograms('healthz runs commands');
      return new Healthz(plan, { clock: systemClock, log });
    },
  });
};
