/**
 * The flags of `portolan diff`.
 */
import { type Flag, type FlagsOf, REPORT_FORMAT } from '@portolan/server/settings/flags/flag.ts';
import { createFlagReader } from '@portolan/server/settings/flags/flag-reader.ts';
import type { Checked } from '@portolan/server/settings/values/problem.ts';

export const DIFF_FLAGS = [
  {
    name: 'replay',
    valueName: 'file',
    value: { kind: 'file' },
    defaultNote: 'only the plans are compared',
    help: 'questions to answer by both, as lines NAME [TYPE]; - is standard input',
  },
  {
    name: 'kubeconfig',
    valueName: 'file',
    value: { kind: 'file' },
    defaultNote: 'a cluster without objects',
    help: 'kubeconfig of the cluster for the replay, which is only read',
  },
  {
    name: 'manifests',
    valueName: 'folder',
    value: { kind: 'folder' },
    defaultNote: 'a cluster without objects',
    help: 'folder with the objects of the cluster for the replay',
  },
  {
    name: 'examples',
    valueName: 'number',
    value: { kind: 'integer', min: 0, max: 1000, of: 'a number of examples' },
    default: '3',
    help: 'examples shown of each kind of difference',
  },
  REPORT_FORMAT,
] as const satisfies readonly Flag[];

export type DiffFlags = FlagsOf<typeof DIFF_FLAGS>;

export interface DiffPlan {
  /** Undefined: no replay. `-`: standard input. */
  readonly replay: string | undefined;
  readonly kubeconfig: string | undefined;
  readonly manifests: string | undefined;
  readonly maxExamples: number;
  readonly output: 'text' | 'json';
}

export function planFromDiffFlags(flags: DiffFlags): Checked<DiffPlan> {
  const read = createFlagReader(DIFF_FLAGS, flags);
  const { kubeconfig, manifests } = flags;
  if (kubeconfig !== undefined && manifests !== undefined)
    read.addProblem('--manifests', 'not together with --kubeconfig', manifests, 'Give one of both.');
  const plan: DiffPlan = {
    replay: read.nonEmpty('--replay', flags.replay, 'a file'),
    kubeconfig,
    manifests,
    maxExamples: read.value('examples'),
    output: read.value('output'),
  };
  const { problems } = read;
  return problems.length > 0 ? { kind: 'bad', problems } : { kind: 'good', value: plan };
}
