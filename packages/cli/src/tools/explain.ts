/**
 * `portolan explain`: why a name resolves, or does not. It asks a running server over its control socket, or builds one without
 * sockets from manifests or a Corefile.
 */
import { isIP } from 'node:net';
import { EXPLAIN_FLAGS, type ExplainFlags } from '@portolan/ops/control/settings/control-flags.ts';
import { readControlOrder } from '@portolan/ops/control/settings/control-order.ts';
import type { TimeSpan } from '@portolan/server/history/history-record.ts';
import { EXPLAIN_EXIT, type Explanation, toExplainExitCode } from '@portolan/server/reasons/explanation.ts';
import { checkExplanation, renderExplanation } from '@portolan/server/reasons/render-explanation.ts';
import { describeProblem } from '@portolan/server/settings/values/problem.ts';
import type { RunCommand } from '../grammar/command.ts';
import { runCommandLine } from '../grammar/command-line.ts';
import { ExitError } from '../grammar/exit.ts';
import { choosePaint } from './colours.ts';
import { checkOutput, fail, requestOrFail } from './control-output.ts';

const COMMAND = 'explain';

export const runExplain: RunCommand = async (words, command) => {
  const operands = [
    { form: '<name>', help: 'name as the client asks for it, or an address' },
    { form: '[types...]', help: 'record types; default: A and AAAA' },
  ];
  const form = { ...command, flags: EXPLAIN_FLAGS, operands };
  return await runCommandLine(words, form, async (flags, [name = '', ...types]) => {
    await explain(name, types, flags);
  });
};

async function explain(name: string, types: readonly string[], flags: ExplainFlags): Promise<void> {
  const output = checkOutput(COMMAND, flags.output);
  const { readPastSpan } = await import('./past.ts');
  const span = readPastSpan(COMMAND, flags);
  if (span !== undefined) {
    await explainAt(name, span, flags);
    return;
  }
  const words = toExplainWords(name, types, flags);
  const checked = readControlOrder([COMMAND, ...words], 'text');
  if (checked.kind === 'bad') fail(COMMAND, checked.problems.map(describeProblem).join(' '), 2);
  const explanation = await getExplanation(words, flags);
  process.stdout.write(
    output === 'json' ? `${JSON.stringify(explanation)}\n` : renderExplanation(explanation, choosePaint()),
  );
  const code = toExplainExitCode(explanation.verdict);
  if (code !== EXPLAIN_EXIT.RESOLVES) throw new ExitError(code);
}

/** What failed in the past. */
async function explainAt(name: string, span: TimeSpan, flags: ExplainFlags): Promise<void> {
  const { findReach, readPast } = await import('./past.ts');
  const { explainPast } = await import('@portolan/server/history/past-verdict.ts');
  const { renderPast } = await import('@portolan/server/history/render-past.ts');
  const { from } = flags;
  const client = from !== undefined && isIP(from) !== 0 ? from : undefined;
  const namespace = client === undefined ? from?.split('/')[0] : undefined;
  const records = await readPast(COMMAND, flags, span);
  const past = explainPast(records, { name, ...span, client, namespace }, findReach(records));
  process.stdout.write(
    flags.output === 'json' ? `${JSON.stringify(past)}\n` : renderPast(past, choosePaint()),
  );
  const code = PAST_EXIT[past.verdict.outcome];
  if (code !== EXPLAIN_EXIT.RESOLVES) throw new ExitError(code);
}

const PAST_EXIT = {
  failed: EXPLAIN_EXIT.FAILS,
  slow: EXPLAIN_EXIT.FAILS,
  'no-failure': EXPLAIN_EXIT.RESOLVES,
  unknown: EXPLAIN_EXIT.BLIND,
} as const;

async function getExplanation(words: readonly string[], flags: ExplainFlags): Promise<Explanation> {
  const { isOffline, openOffline } = await import('./offline-plan.ts');
  try {
    const evidence = await loadEvidence(flags);
    if (!isOffline(flags)) {
      for await (const data of requestOrFail(COMMAND, flags.socket, { verb: COMMAND, words, evidence }))
        return checkExplanation(data);
      fail(COMMAND, 'the server gave no explanation. See its log.', 3);
    }
    const order = readControlOrder([COMMAND, ...words], 'text');
    if (order.kind === 'bad' || order.value.kind !== COMMAND) throw new TypeError('not an order to explain');
    const server = await openOffline(flags);
    try {
      await server.start();
      return await server.explainer.explain(order.value, evidence);
    } finally {
      await server.stop();
    }
  } catch (error) {
    if (error instanceof ExitError || !(error instanceof Error)) throw error;
    return fail(COMMAND, error.message, 3);
  }
}

async function loadEvidence({ evidence, manifests }: ExplainFlags): Promise<readonly unknown[]> {
  if (evidence === undefined && manifests === undefined) return [];
  const { readEvidence, readManifestEvidence } = await import('./evidence.ts');
  return evidence === undefined ? readManifestEvidence(manifests ?? '') : readEvidence(evidence);
}

/** The flags as words of the protocol. */
function toExplainWords(name: string, types: readonly string[], flags: ExplainFlags): readonly string[] {
  const { from, search, ndots, resolver, ask = false } = flags;
  const isAddress = from !== undefined && isIP(from) !== 0;
  const [namespace, pod] = from?.split('/') ?? [];
  const settings = {
    from: isAddress ? from : undefined,
    namespace: isAddress ? undefined : namespace,
    pod: isAddress || pod === '' ? undefined : pod,
    search,
    ndots,
    resolver,
  };
  const given = Object.entries(settings).flatMap(([key, value]) =>
    value === undefined ? [] : `${key}=${value}`,
  );
  return [name, ...types, ...given, ...(ask ? ['ask'] : [])];
}
