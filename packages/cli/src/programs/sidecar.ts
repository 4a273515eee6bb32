/**
 * `portolan sidecar`: replaces the sidecar of kube-dns, with its command line.
 */
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { processFamilies } from '@portolan/ops/sidecar/process-metrics.ts';
import { SIDECAR_PORT, Sidecar } from '@portolan/ops/sidecar/sidecar.ts';
import {
  readSidecarFlags,
  SIDECAR_FLAGS,
  type SidecarReading,
} from '@portolan/server/settings/sidecar/sidecar-flags.ts';
import type { RunCommand } from '../grammar/command.ts';
import { EITHER_DASHES, helpText } from '../grammar/help-text.ts';
import { VERSION } from '../process/version.ts';
import { runRoleCommand } from './run-role.ts';

export const runSidecar: RunCommand = async (words, command) => {
  const reading = readSidecarFlags(words);
  return await runRoleCommand<Extract<SidecarReading, { kind: 'good' }>>(reading, {
    name: 'sidecar',
    replacedProgram: 'sidecar 1.26',
    helpText: () =>
      helpText(command, SIDECAR_FLAGS, {
        about: 'Probes DNS servers, and serves the results by HTTP: /healthcheck/LABEL, /healthz, /metrics.',
        notes: EITHER_DASHES,
      }),
    logLevel: ({ logLevel }) => logLevel,
    create: ({ plan }, log, http) =>
      new Sidecar(plan, {
        clock: systemClock,
        log,
        httpDrops: () => http.countDrops(SIDECAR_PORT),
        furtherMetrics: () => processFamilies(VERSION),
      }),
  });
};
