/**
 * The flags of `portolan autoscaler decide`.
 */
import type { Flag } from '../flags/flag.ts';
import { readProgramFlags } from '../flags/program-flags.ts';
import type { Checked } from '../values/problem.ts';

const COUNT = { kind: 'integer', min: 0, max: 1_000_000_000, of: 'a number' } as const;

export const DECIDE_FLAGS = [
  {
    name: 'params',
    valueName: 'file',
    value: { kind: 'file' },
    help: 'file with the parameters: a ConfigMap, or the value of --default-params; - is standard input',
  },
  { name: 'nodes', valueName: 'number', value: COUNT, help: 'nodes of the cluster' },
  { name: 'cores', valueName: 'number', value: COUNT, help: 'their processors' },
  {
    name: 'schedulable-nodes',
    valueName: 'number',
    value: COUNT,
    defaultNote: 'all',
    help: 'those nodes that are ready and not cordoned',
  },
  {
    name: 'schedulable-cores',
    valueName: 'number',
    value: COUNT,
    defaultNote: 'all',
    help: 'their processors',
  },
] as const satisfies readonly Flag[];

export interface DecideQuestion {
  /** `-`: standard input. */
  readonly file: string;
  readonly size: {
    readonly nodes: number;
    readonly schedulableNodes: number;
    readonly cores: number;
    readonly schedulableCores: number;
  };
}

const REMEDY = "See 'portolan autoscaler decide --help' for those there are.";

/** @param words the arguments after the command */
export function readDecideFlags(words: readonly string[]): Checked<DecideQuestion> | 'help' {
  const flags = readProgramFlags(words, DECIDE_FLAGS, { dashes: '--', remedy: REMEDY });
  if (flags.kind !== 'flags') return flags.kind;
  const { read } = flags;
  const { problems } = read;
  for (const name of ['params', 'nodes', 'cores'] as const)
    if (!read.isGiven(name)) read.addProblem(`--${name}`, 'not given', undefined, 'Give it.');
  const file = read.value('params') ?? '';
  const nodes = read.value('nodes') ?? 0;
  const cores = read.value('cores') ?? 0;
  const schedulableNodes = read.value('schedulable-nodes') ?? nodes;
  const schedulableCores = read.value('schedulable-cores') ?? cores;
  if (problems.length > 0) return { kind: 'bad', problems };
  return { kind: 'good', value: { file, size: { nodes, schedulableNodes, cores, schedulableCores } } };
}
