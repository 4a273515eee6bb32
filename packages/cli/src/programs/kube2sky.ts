/**
 * `portolan kube2sky`: replaces kube2sky, which wrote the Services of a cluster into etcd for SkyDNS.
 */
import { systemClock } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { Kube2SkyProgram } from '@portolan/ops/kube2sky/kube2sky-program.ts';
import {
  KUBE2SKY_FLAGS,
  type Kube2SkyReading,
  type Kube2SkySettings,
  readKube2SkyFlags,
} from '@portolan/ops/kube2sky/settings/kube2sky-flags.ts';
import type { RunCommand } from '../grammar/command.ts';
import { EITHER_DASHES, helpText } from '../grammar/help-text.ts';
import { connectToCluster, makeIdentity } from '../process/cluster-connection.ts';
import { runRoleCommand } from './run-role.ts';

export const runKube2Sky: RunCommand = async (words, command) => {
  const reading = readKube2SkyFlags(words, process.env);
  return await runRoleCommand<Extract<Kube2SkyReading, { kind: 'good' }>>(reading, {
    name: 'kube2sky',
    replacedProgram: 'kube2sky 1.15',
    helpText: () =>
      helpText(command, KUBE2SKY_FLAGS, {
        about:
          'Writes the Services, headless Services and pods of a cluster into etcd, where SkyDNS and CoreDNS answer from.',
        notes: EITHER_DASHES,
      }),
    logLevel: ({ settings }) => settings.logLevel,
    create: ({ settings }, log) => makeProgram(settings, log),
  });
};

function makeProgram({ plan, cluster, healthzPort }: Kube2SkySettings, log: Log): Kube2SkyProgram {
  return new Kube2SkyProgram(plan, {
    clock: systemClock,
    log,
    identity: makeIdentity(),
    healthzPort,
    connect: () => connectToCluster({ ...cluster, context: undefined }, log),
  });
}
