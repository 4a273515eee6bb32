/**
 * `portolan autoscaler decide`: computes the replicas for given parameters on the command line.
 */
import { readFileSync } from 'node:fs';
import type { NodeCounts } from '@portolan/kubernetes/objects/node-counts.ts';
import { type Decision, decideReplicas } from '@portolan/ops/autoscaler/decide.ts';
import {
  DECIDE_FLAGS,
  type DecideQuestion,
  readDecideFlags,
} from '@portolan/server/settings/autoscaler/decide-flags.ts';
import { type Parameters, readParameters } from '@portolan/server/settings/autoscaler/parameters.ts';
import { readParametersFile } from '@portolan/server/settings/autoscaler/parameters-file.ts';
import { formatFlagRow, formatRows } from '@portolan/server/settings/flags/flag-text.ts';
import { helpRow } from '@portolan/server/settings/flags/klog-flags.ts';
import { printFailure, printProblems } from '../process/print-problems.ts';

const COMMAND = 'autoscaler decide';

/** @param words the arguments after the command @returns the exit code */
export async function runDecide(words: readonly string[]): Promise<number> {
  const reading = readDecideFlags(words);
  if (reading === 'help') {
    process.stdout.write(helpText());
    return 0;
  }
  if (reading.kind === 'bad') {
    printProblems(COMMAND, reading.problems);
    return 2;
  }
  try {
    process.stdout.write(await decide(reading.value));
    return 0;
  } catch (error) {
    printFailure(COMMAND, error);
    return 1;
  }
}

function helpText(): string {
  return `Usage: portolan autoscaler decide --params <file> --nodes <number> --cores <number>

Prints how many replicas the parameters of a file ask for.

${formatRows([...DECIDE_FLAGS.map((flag) => formatFlagRow(flag)), helpRow('--')])}`;
}

/** @throws ParametersError, ParametersFileError */
async function decide({ file, size }: DecideQuestion): Promise<string> {
  const text = readFileSync(file === '-' ? 0 : file, 'utf8');
  const parameters = readParameters(await readParametersFile(file, text));
  return describeDecision(parameters, size, decideReplicas(parameters, size));
}

function describeDecision(parameters: Parameters, size: NodeCounts, decision: Decision): string {
  const { includeUnschedulableNodes: all, mode } = parameters;
  const nodes = all ? size.nodes : size.schedulableNodes;
  const cores = all ? size.cores : size.schedulableCores;
  return [
    `replicas: ${decision.replicas}`,
    `mode: ${mode}`,
    `by nodes: ${decision.byNodes} (${nodes} nodes)`,
    `by cores: ${decision.byCores} (${cores} cores)`,
    '',
  ].join('\n');
}
