/**
 * `portolan swap`: puts Portolan in the place of the DNS program that runs in a cluster, or goes back.
 */
import { CLASS, TYPE } from '@portolan/dns/types.ts';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { ItemFault } from '@portolan/kernel/base/item-guard.ts';
import { RestClient, RestError } from '@portolan/kubernetes/api/rest/rest-client.ts';
import { asRecord, asText } from '@portolan/kubernetes/objects/trim/fields.ts';
import { type AskedQuestion, PLAIN, readName } from '@portolan/ops/compare/asked-question.ts';
import { AskedServer } from '@portolan/ops/compare/asked-server.ts';
import type { ServerPlace } from '@portolan/ops/compare/settings/compare-flags.ts';
import { renderPreflight } from '@portolan/ops/preflight/render-preflight.ts';
import {
  planFromSwapFlags,
  SWAP_FLAGS,
  type SwapFlags,
  type SwapPlan,
} from '@portolan/ops/swap/settings/swap-flags.ts';
import { Swap, type SwapOutcome } from '@portolan/ops/swap/swap.ts';
import { SwapError } from '@portolan/ops/swap/swapped-images.ts';
import { DOCTOR_EXIT } from '@portolan/server/reasons/finding.ts';
import type { RunCommand } from '../grammar/command.ts';
import { runCommandLine } from '../grammar/command-line.ts';
import { ExitError } from '../grammar/exit.ts';
import { exitOnProblems } from '../grammar/exit-on-problems.ts';
import { onStopSignal } from '../process/signals.ts';
import { choosePaint } from './colours.ts';
import { fail } from './control-output.ts';
import { openCluster } from './open-cluster.ts';
import { preflight } from './preflight.ts';

const COMMAND = 'swap';
/** Milliseconds that an answer may take. */
const TIMEOUT = 2_000;

export const runSwap: RunCommand = async (words, command) => {
  return await runCommandLine(words, { ...command, flags: SWAP_FLAGS }, async (flags) => {
    const plan = exitOnProblems(COMMAND, planFromSwapFlags(flags));
    const connection = await openCluster(COMMAND, plan.cluster);
    try {
      const rest = new RestClient(connection, systemClock);
      if (plan.image !== undefined) {
        await checkFirst(rest, plan);
        process.stdout.write(`${wayBack(plan, flags)}\n`);
      }
      const outcome = await swap(rest, plan);
      if (outcome === 'rolled back' || outcome === 'failed') throw new ExitError(1);
    } finally {
      connection.close();
    }
  });
};

/** @throws ExitError with 1 if something is to do first, after it is printed */
async function checkFirst(rest: RestClient, plan: SwapPlan): Promise<void> {
  const report = await preflight(COMMAND, rest, plan);
  const blocking = report.findings.filter(
    ({ severity, check }) => severity === 'first' && !plan.ignored.includes(check),
  );
  if (blocking.length === 0) return;
  process.stdout.write(renderPreflight(report, choosePaint()));
  fail(
    COMMAND,
    'nothing was changed. Do first what the preflight lists, or give --ignore with the name of a check.',
    1,
  );
}

/** Printed before anything changes. */
function wayBack({ original, namespace }: SwapPlan, flags: SwapFlags): string {
  const given = (['like', 'kubeconfig', 'context', 'namespace', 'name', 'service'] as const).flatMap(
    (name) => (flags[name] === undefined ? [] : [`--${name}=${flags[name]}`]),
  );
  const what = `${original.kind.toLowerCase()}/${original.workload}`;
  return `Way back: portolan swap --back --apply ${given.join(' ')}\n      or: kubectl -n ${namespace} rollout undo ${what}`;
}

/** @throws ExitError after the reason is printed */
async function swap(rest: RestClient, plan: SwapPlan): Promise<SwapOutcome> {
  const interrupted = new AbortController();
  onStopSignal(() => interrupted.abort());
  let dns: AskedServer | undefined;
  try {
    dns = new AskedServer(plan.server ?? (await findServer(rest, plan)), TIMEOUT, systemClock);
    const say = (line: string) => process.stdout.write(`${line}\n`);
    const { signal } = interrupted;
    const running = new Swap(plan, {
      rest,
      dns,
      question: parseQuestion(plan),
      clock: systemClock,
      say,
      signal,
    });
    return plan.image === undefined ? await running.back() : await running.forward(plan.image);
  } catch (error) {
    if (!(error instanceof SwapError || error instanceof RestError)) throw error;
    return fail(COMMAND, error.message, DOCTOR_EXIT.PROBLEM);
  } finally {
    dns?.close();
  }
}

function parseQuestion({ question }: SwapPlan): AskedQuestion {
  try {
    return { ...PLAIN, name: readName(question), type: TYPE.A, class: CLASS.IN };
  } catch (error) {
    if (!(error instanceof ItemFault)) throw error;
    return fail(COMMAND, `--question: ${error.message}`, 2);
  }
}

async function findServer(rest: RestClient, { original, namespace }: SwapPlan): Promise<ServerPlace> {
  const { service } = original;
  const found = await rest.get(
    `/api/v1/namespaces/${encodeURIComponent(namespace)}/services/${encodeURIComponent(service)}`,
  );
  const address = asText(asRecord(found['spec'])?.['clusterIP']);
  if (address === undefined || address === 'None')
    throw new SwapError(
      `Service ${service} has no address. Give one at which the DNS of the cluster answers with --server.`,
    );
  return { transport: 'udp', address, port: 53 };
}
