/**
 * The flags of `portolan preflight`, and those that it shares with `portolan swap`.
 */
import { type Flag, type FlagsOf, REPORT_FORMAT } from '../flags/flag.ts';
import type { Checked } from '../values/problem.ts';
import { ValueReader } from '../values/value-reader.ts';
import { ORIGINALS, type Original, originalOf } from './originals.ts';

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
  const read = new ValueReader();
  const workload = readWorkload(read, flags);
  const output = read.choice('--output', flags.output, ['text', 'json'], 'text');
  const { problems } = read;
  if (problems.length > 0 || workload === undefined) return { kind: 'bad', problems };
  return { kind: 'good', value: { ...workload, output } };
}

/** @returns undefined after a problem */
export function readWorkload(read: ValueReader, flags: WorkloadFlags): WorkloadPlan | undefined {
  const { kubeconfig, context } = flags;
  const like = ORIGINALS.find((name) => name === flags.like);
  if (like === undefined) {
    const fault = flags.like === undefined ? 'not given' : 'unknown';
    read.addProblem('--like', fault, flags.like, `Give one of ${ORIGINALS.join(', ')}.`);
    return undefined;
  }
  const original = originalOf(like);
  return {
    original: {
      ...original,
      workload: read.nonEmpty('--name', flags.name, 'the name of an object') ?? original.workload,
      service: read.nonEmpty('--service', flags.service, 'the name of a Service') ?? original.service,
    },
    namespace: read.nonEmpty('--namespace', flags.namespace, 'a namespace') ?? 'kube-system',
    cluster: { kubecfgFile: kubeconfig, context },
  };
}
