/**
 * `portolan doctor`: finds what is wrong with a running server and its cluster, or with a node.
 */
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { parseDuration } from '@portolan/kernel/base/duration.ts';
import { DOCTOR_FLAGS, type DoctorFlags } from '@portolan/ops/control/settings/control-flags.ts';
import type { TimeSpan } from '@portolan/server/history/history-record.ts';
import { ALL_CHECKS } from '@portolan/server/reasons/checks/all-checks.ts';
import { type Diagnosis, DOCTOR_EXIT, runChecks } from '@portolan/server/reasons/finding.ts';
import type { Paint } from '@portolan/server/reasons/render-explanation.ts';
import type { RunCommand } from '../grammar/command.ts';
import { runCommandLine } from '../grammar/command-line.ts';
import { ExitError } from '../grammar/exit.ts';
import { holdProcess } from '../process/hold-process.ts';
import { choosePaint } from './colours.ts';
import { checkOutput, fail } from './control-output.ts';

const COMMAND = 'doctor';

export const runDoctor: RunCommand = async (words, command) => {
  return await runCommandLine(words, { ...command, flags: DOCTOR_FLAGS }, async (flags) => {
    const output = checkOutput(COMMAND, flags.output);
    const { onNode = false } = flags;
    const { readPastSpan } = await import('./past.ts');
    const span = readPastSpan(COMMAND, flags);
    if (span !== undefined) {
      await diagnoseSince(span, flags);
      return;
    }
    const diagnosis = await (onNode ? diagnosisOfNode(flags) : getDiagnosis(flags));
    const text =
      output === 'json'
        ? `${JSON.stringify(diagnosis)}\n`
        : renderDiagnosis(diagnosis, flags.evidence !== undefined, choosePaint());
    process.stdout.write(text);
    const hasProblem = diagnosis.findings.some(({ severity }) => severity === 'problem');
    if (hasProblem) throw new ExitError(DOCTOR_EXIT.PROBLEM);
  });
};

async function diagnoseSince(span: TimeSpan, flags: DoctorFlags): Promise<void> {
  const { readPast } = await import('./past.ts');
  const { diagnosePast } = await import('@portolan/ops/control/past-records.ts');
  const { renderPastDiagnosis } = await import('./render-past-diagnosis.ts');
  const past = diagnosePast(await readPast(COMMAND, flags, span), span.from, span.to);
  const isJson = flags.output === 'json';
  process.stdout.write(isJson ? `${JSON.stringify(past)}\n` : renderPastDiagnosis(past, choosePaint()));
  if (past.episodes.length > 0) throw new ExitError(DOCTOR_EXIT.PROBLEM);
}

/** Without a server, the objects alone can still be checked. */
async function getDiagnosis({ socket, watch, evidence: file }: DoctorFlags): Promise<Diagnosis> {
  const { requestControl, NoServerError } = await import(
    '@portolan/server/observe/control/control-client.ts'
  );
  const words = watch === undefined ? [] : [`watch=${watch}`];
  let evidence: readonly unknown[] = [];
  try {
    if (file !== undefined) evidence = (await import('./evidence.ts')).readEvidence(file);
    for await (const data of requestControl(socket, { verb: COMMAND, words, evidence }))
      return data as Diagnosis; // The server is of the same version.
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (!(error instanceof NoServerError)) fail(COMMAND, error.message, DOCTOR_EXIT.USAGE);
    if (evidence.length === 0) fail(COMMAND, error.message, DOCTOR_EXIT.BLIND);
    const { readObjectEvidence } = await import('@portolan/ops/control/object-evidence.ts');
    return runChecks(ALL_CHECKS, { server: undefined, traffic: undefined, ...readObjectEvidence(evidence) });
  }
  return fail(COMMAND, 'the server gave no diagnosis. See its log.', DOCTOR_EXIT.BLIND);
}

/** Needs no server: what is wrong with a node is often seen by no server. */
async function diagnosisOfNode({ watch = '2s', nodeRoot, ask = false }: DoctorFlags): Promise<Diagnosis> {
  const milliseconds = parseDuration(watch);
  if (milliseconds === undefined)
    return fail(COMMAND, `--watch: not a duration: "${watch}". Give one such as 2s.`, DOCTOR_EXIT.USAGE);
  const { NODE_CHECKS } = await import('@portolan/server/reasons/checks/node-checks.ts');
  const { readNodeEvidence } = await import('@portolan/ops/node-evidence/read-node-evidence.ts');
  const { findNode } = await import('@portolan/ops/node-evidence/find-node.ts');
  const clock = systemClock;
  const node = findNode(nodeRoot, clock);
  const evidence = await holdProcess(() =>
    readNodeEvidence({ ...node, watch: milliseconds, asks: ask, clock }),
  );
  const diagnosis = runChecks(NODE_CHECKS, evidence);
  if (diagnosis.checked.length === 0)
    fail(
      COMMAND,
      `nothing could be read of the node: ${node.root}. Give its --node-root.`,
      DOCTOR_EXIT.BLIND,
    );
  return diagnosis;
}

/** Kinds of objects that `--evidence` passes; servers do not follow them, or keep only what answers need. */
const OBJECTS: readonly string[] = ['services', 'pods', 'policies'];

/** @param hasObjects whether the caller passed objects */
function renderDiagnosis(
  { findings, checked, notChecked }: Diagnosis,
  hasObjects: boolean,
  paint: Paint,
): string {
  const found = findings.flatMap(({ kind, severity, sentence, remedies }) => {
    const head = severity === 'problem' ? paint('bad', 'PROBLEM') : 'RISK   ';
    return [
      `${head}  ${kind.padEnd(24)}  ${sentence}`,
      ...remedies.flatMap((remedy) => [
        `         do  ${remedy.sentence}`,
        ...(remedy.command ?? '').split('\n').flatMap((line) => (line === '' ? [] : `             ${line}`)),
      ]),
      '',
    ];
  });
  const kinds = new Set(findings.map(({ kind }) => kind));
  const well = checked.filter((kind) => !kinds.has(kind));
  const unread = hasObjects
    ? []
    : OBJECTS.filter((kind) => notChecked.some(({ needs }) => needs.includes(kind)));
  const lines = [
    ...found,
    `${paint('good', 'ok')}           ${well.length} checks${well.length === 0 ? '' : `: ${well.join(', ')}`}`,
    ...notChecked.map(({ kind, needs }) => `not checked  ${kind}: needs ${needs.join(', ')}`),
    ...(unread.length > 0 ? [`         do  Pass ${unread.join(', ')} by --evidence.`] : []),
  ];
  return `${lines.join('\n')}\n`;
}
