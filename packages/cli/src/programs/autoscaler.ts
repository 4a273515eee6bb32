/**
 * `portolan autoscaler`: cluster-proportional-autoscaler, with its command line.
 */
import { systemClock } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { AutoscalerProgram } from '@portolan/ops/autoscaler/autoscaler-program.ts';
import { processFamilies } from '@portolan/ops/sidecar/process-metrics.ts';
import {
  AUTOSCALER_FLAGS,
  type AutoscalerReading,
  type AutoscalerSettings,
  readAutoscalerFlags,
} from '@portolan/server/settings/autoscaler/autoscaler-flags.ts';
import type { RunCommand } from '../grammar/command.ts';
import { EITHER_DASHES, helpText } from '../grammar/help-text.ts';
import { connectToCluster, makeIdentity } from '../process/cluster-connection.ts';
import { VERSION } from '../process/version.ts';
import { runDecide } from './autoscaler-decide.ts';
import { runRoleCommand } from './run-role.ts';

export const runAutoscaler: RunCommand = async (words, command) => {
  const [first, ...rest] = words;
  if (first === 'decide') return await runDecide(rest);
  const reading = readAutoscalerFlags(words, process.env);
  return await runRoleCommand<Extract<AutoscalerReading, { kind: 'good' }>>(reading, {
    name: 'autoscaler',
    replacedProgram: 'cluster-proportional-autoscaler 1.10',
    helpText: () =>
      helpText(command, AUTOSCALER_FLAGS, {
        usage: `autoscaler [flags]
       portolan autoscaler decide --params <file> --nodes <number> --cores <number>`,
        about: `Keeps the replicas of Deployments and other objects in proportion to the nodes and cores of the cluster.
The second form shows how many replicas parameters ask for, without a cluster.`,
        notes: EITHER_DASHES,
      }),
    logLevel: ({ settings }) => settings.logLevel,
    create: ({ settings }, log) => makeProgram(settings, log),
  });
};

function makeProgram({ plan, cluster, healthzPort }: AutoscalerSettings, log: Log): AutoscalerProgram {
  return new AutoscalerProgram(plan, {
    clock: systemClock,
    log,
    identity: makeIdentity(),
    healthzPort,
    connect: () => connectToCluster(cluster, log),
    furtherMetrics: () => processFamilies(VERSION),
  });
}
