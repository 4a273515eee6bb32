/**
 * `portolan kube2sky`: the program that wrote the Services of a cluster into etcd for SkyDNS, with its command line.
 */
import { systemClock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { formatRows, rowOf } from '../config/flags/flag-text.ts';
import { helpRow, klogRows } from '../config/flags/klog-flags.ts';
import {
  KUBE2SKY_FLAGS,
  type Kube2SkyReading,
  type Kube2SkySettings,
  readKube2SkyFlags,
} from '../config/kube2sky/kube2sky-flags.ts';
import { Kube2SkyProgram } from '../roles/kube2sky/kube2sky-program.ts';
import { connectToCluster, makeIdentity } from './make-autoscaler.ts';
import { runRoleCommand } from './run-role.ts';

/** @param words what stands behind the command @returns the exit code */
export async function runKube2Sky(words: readonly string[]): Promise<number> {
  const reading = readKube2SkyFlags(words, process.env);
  return await runRoleCommand<Extract<Kube2SkyReading, { kind: 'good' }>>(reading, {
    name: 'kube2sky',
    inPlaceOf: 'kube2sky 1.15',
    helpText,
    logLevel: ({ settings }) => settings.logLevel,
    create: ({ settings }, log) => makeProgram(settings, log),
  });
}

function makeProgram({ plan, cluster, healthzPort }: Kube2SkySettings, log: Log): Kube2SkyProgram {
  return new Kube2SkyProgram(plan, {
    clock: systemClock,
    log,
    identity: makeIdentity(),
    healthzPort,
    connect: () => connectToCluster({ ...cluster, context: undefined }, log),
  });
}

function helpText(): string {
  return `Usage: portolan kube2sky [flags]

Writes the Services, headless Services and pods of a cluster into etcd, where SkyDNS and CoreDNS answer from.

${formatRows([...KUBE2SKY_FLAGS.map((flag) => rowOf(flag, '-')), ...klogRows('-'), helpRow('-')])}
Flags may be written with one dash or two.
`;
}
