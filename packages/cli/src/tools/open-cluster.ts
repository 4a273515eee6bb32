/**
 * Connects to a cluster for a command that a person runs.
 */
import { homedir } from 'node:os';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import type { Connection } from '@portolan/kubernetes/api/connection/types.ts';
import { DOCTOR_EXIT } from '@portolan/server/reasons/finding.ts';
import { fail } from './control-output.ts';

export interface ChosenCluster {
  readonly kubecfgFile: string | undefined;
  readonly context: string | undefined;
}

/** @throws ExitError with 3, after the reason is printed */
export async function openCluster(command: string, chosen: ChosenCluster): Promise<Connection> {
  const { findCluster } = await import('@portolan/kubernetes/api/connection/find-cluster.ts');
  const settings = { ...chosen, environment: process.env, home: homedir(), clock: systemClock };
  const found = await findCluster(settings).catch((error: unknown) =>
    fail(command, describeError(error), DOCTOR_EXIT.BLIND),
  );
  if (found.kind === 'connection') return found;
  const places = found.lookedFor.map((place) => `\n  ${place}`).join('');
  return fail(
    command,
    `no cluster found, looked for:${places}\nName a kubeconfig with --kubeconfig.`,
    DOCTOR_EXIT.BLIND,
  );
}
