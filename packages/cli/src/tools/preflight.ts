/**
 * `portolan preflight`: checks whether Portolan can take the place of the DNS program that runs in a cluster. Nothing is written.
 */
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { RestClient, RestError } from '@portolan/kubernetes/api/rest/rest-client.ts';
import type { PreflightReport } from '@portolan/ops/preflight/finding.ts';
import { makePreflight } from '@portolan/ops/preflight/preflight.ts';
import { readRunning } from '@portolan/ops/preflight/read-running.ts';
import { renderPreflight } from '@portolan/ops/preflight/render-preflight.ts';
import {
  PREFLIGHT_FLAGS,
  planFromPreflightFlags,
  type WorkloadPlan,
} from '@portolan/ops/preflight/settings/preflight-flags.ts';
import { DOCTOR_EXIT } from '@portolan/server/reasons/finding.ts';
import type { RunCommand } from '../grammar/command.ts';
import { runCommandLine } from '../grammar/command-line.ts';
import { ExitError } from '../grammar/exit.ts';
import { exitOnProblems } from '../grammar/exit-on-problems.ts';
import { createProcessSources } from '../servers/dnsmasq-sources.ts';
import { addressesByInterface } from '../servers/machine-interfaces.ts';
import { choosePaint } from './colours.ts';
import { fail } from './control-output.ts';
import { openCluster } from './open-cluster.ts';

const COMMAND = 'preflight';

export const runPreflight: RunCommand = async (words, command) => {
  return await runCommandLine(words, { ...command, flags: PREFLIGHT_FLAGS }, async (flags) => {
    const plan = exitOnProblems(COMMAND, planFromPreflightFlags(flags));
    const connection = await openCluster(COMMAND, plan.cluster);
    try {
      const report = await preflight(COMMAND, new RestClient(connection, systemClock), plan);
      const text =
        plan.output === 'json' ? `${JSON.stringify(report)}\n` : renderPreflight(report, choosePaint());
      process.stdout.write(text);
      if (!report.go) throw new ExitError(DOCTOR_EXIT.PROBLEM);
    } finally {
      connection.close();
    }
  });
};

/** @throws ExitError with 3 if the program cannot be looked at, after the reason is printed */
export async function preflight(
  command: string,
  rest: RestClient,
  plan: WorkloadPlan,
): Promise<PreflightReport> {
  try {
    const machine = { interfaces: addressesByInterface(), sources: createProcessSources() };
    return makePreflight(plan, await readRunning(rest, plan), machine);
  } catch (error) {
    if (!(error instanceof RestError)) throw error;
    const { original, namespace } = plan;
    const what = `${original.kind} ${namespace}/${original.workload}`;
    const remedy = 'Name another one with --namespace and --name.';
    return fail(command, `cannot read ${what}: ${error.message}. ${remedy}`, DOCTOR_EXIT.BLIND);
  }
}
