/**
 * The flags of `portolan preflight`, and those that it shares with `portolan swap`.
 */
import { type Flag, type FlagsOf, REPORT_FORMAT } from '@portolan/server/settings/flags/flag.ts';
import { createFlagReader } from '@portolan/server/settings/flags/flag-reader.ts';
import type { Checked, Problem } from '@portolan/server/settings/values/problem.ts';
import { getOriginal, ORIGINALS, type Original } from './originals.ts';

export const WORKLOAD_FLAGS = [
  {
    name: 'like',
    valueName: 'program',
    value: { kind: 'choice', choices: ORIGINALS },
    help: 'program that runs in the cluster today',
  },
  {
    name: 'kubeconfig',
    valueName: 'file',
    value: { kind: 'file' },
    defaultNote: 'the cluster of the pod, KUBECONFIG, or ~/.kube/config',
    help: 'kubeconfig of the cluster',
  },
  {
    name: 'context',
    valueName: 'name',
    value: { kind: 'text', of: 'the name of a context' },
    defaultNote: 'the current one',
    help: 'context of the kubeconfig',
  },
  {
    name: 'namespace',
    valueName: 'name',
    value: { kind: 'text', of: 'a namespace' },
    default: 'kube-system',
    help: 'namespace of the program',
  },
  {
    name: 'name',
    valueName: 'name',
    value: { kind: 'text', of: 'the name of an object' },
    defaultNote: 'coredns, kube-dns or node-local-dns',
    help: 'name of its Deployment or DaemonSet',
  },
  {
    name: 'service',
    valueName: 'name',
    value: { kind: 'text', of: 'the name of a Service' },
    defaultNote: 'kube-dns, for node-cache kube-dns-upstream',
    help: 'name of its Service',
  },
] as const satisfies readonly Flag[];

export const PREFLIGHT_FLAGS = [...WORKLOAD_FLAGS, REPORT_FORMAT] as const satisfies readonly Flag[];

export type WorkloadFlags = FlagsOf<typeof WORKLOAD_FLAGS>;

export type PreflightFlags = FlagsOf<typeof PREFLIGHT_FLAGS>;

/** What runs today, and where. */
export interface WorkloadPlan {
  /** With the names that flags give. */
  readonly original: Original;
  readonly namespace: string;
  readonly cluster: { readonly kubecfgFile: string | undefined; readonly context: string | undefined };
}

export interface PreflightPlan extends WorkloadPlan {
  readonly output: 'text' | 'json';
}

export function planFromPreflightFlags(flags: PreflightFlags): Checked<PreflightPlan> {
  const read = createFlagReader(PREFLIGHT_FLAGS, flags);
  const workload = readWorkload(flags, read.problems);
  const output = read.value('output');
  const { problems } = read;
  if (problems.length > 0 || workload === undefined) return { kind: 'bad', problems };
  return { kind: 'good', value: { ...workload, output } };
}

/** @param problems the list to add problems to @returns undefined after a problem */
export function readWorkload(flags: WorkloadFlags, problems: Problem[]): WorkloadPlan | undefined {
  const read = createFlagReader(WORKLOAD_FLAGS, flags, problems);
  const { like: name, kubeconfig, context } = flags;
  const like = ORIGINALS.find((original) => original === name);
  if (like === undefined) {
    const fault = name === undefined ? 'not given' : 'unknown';
    read.addProblem('--like', fault, name, `Give one of ${ORIGINALS.join(', ')}.`);
    return undefined;
  }
  const { workload, service, ...original } = getOriginal(like);
  return {
    original: {
      ...original,
      workload: read.value('name') ?? workload,
      service: read.value('service') ?? service,
    },
    namespace: read.value('namespace'),
    cluster: { kubecfgFile: kubeconfig, context },
  };
}
