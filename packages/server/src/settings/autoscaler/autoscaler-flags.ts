/**
 * The flags of cluster-proportional-autoscaler, read as that program reads them, and Portolan's additions.
 */
import type { LogLevel } from '@portolan/kernel/base/log.ts';
import type { FindClusterOptions } from '@portolan/kubernetes/api/connection/find-cluster.ts';
import { isDns1123Subdomain } from '@portolan/kubernetes/names/name-rules.ts';
import type { Flag, FlagKinds } from '../flags/flag.ts';
import type { FlagReader } from '../flags/flag-reader.ts';
import { readLogLevel } from '../flags/klog-flags.ts';
import { readProgramFlags } from '../flags/program-flags.ts';
import type { Problem } from '../values/problem.ts';
import type { AutoscalerPlan, ElectionPlan } from './autoscaler-plan.ts';
import { readDefaultParameters } from './default-parameters.ts';
import { JsonError } from './json-node.ts';
import { readScaleTargets } from './scale-targets.ts';

/** Seconds; JavaScript timers wait at most about 24 days. */
const MAX_PERIOD = 2_000_000;

export const AUTOSCALER_FLAGS = [
  {
    name: 'target',
    valueName: 'kind/name',
    value: { kind: 'text', of: 'a target' },
    help: 'what is scaled: deployment, replicaset, statefulset or replicationcontroller, or resource.group of anything with a scale subresource; several with commas between them',
  },
  {
    name: 'configmap',
    valueName: 'name',
    value: { kind: 'text', of: 'the name of a ConfigMap' },
    help: 'ConfigMap with the parameters',
  },
  {
    name: 'namespace',
    valueName: 'name',
    value: { kind: 'text', of: 'a namespace' },
    defaultNote: 'MY_POD_NAMESPACE of the environment',
    help: 'namespace of the targets and of the ConfigMap',
  },
  {
    name: 'default-params',
    valueName: 'json',
    value: { kind: 'text', of: 'parameters in JSON' },
    help: 'parameters that the ConfigMap is created with where there is none, as in {"linear":{"nodesPerReplica":16}}',
  },
  {
    name: 'poll-period-seconds',
    valueName: 'seconds',
    value: { kind: 'integer', min: 1, max: MAX_PERIOD, of: 'a number of seconds' },
    default: '10',
    help: 'interval at which parameters and targets are read',
  },
  {
    name: 'nodelabels',
    valueName: 'selector',
    value: { kind: 'text', of: 'a label selector' },
    help: 'label selector of the nodes that count, as in kubectl get nodes --selector',
  },
  {
    name: 'max-sync-failures',
    valueName: 'number',
    value: { kind: 'integer', min: 0, max: 2 ** 31 - 1, of: 'a number' },
    default: '0',
    help: 'failed polls in a row after which the program ends; 0: it never does',
  },
  {
    name: 'scale-down-delay',
    valueName: 'duration',
    value: { kind: 'duration' },
    default: '0s',
    help: 'scale down to the most replicas that were wanted in this time',
  },
  {
    name: 'max-scale-down',
    valueName: 'replicas',
    value: { kind: 'integer', min: 0, max: 2 ** 31 - 1, of: 'a number of replicas' },
    default: '0',
    help: 'replicas that a target loses at most in one poll period; 0: any number',
  },
  { name: 'dry-run', value: 'none', help: 'log what would be written, and write nothing' },
  {
    name: 'leader-elect',
    value: 'none',
    help: 'of several instances let the one scale that holds a Lease',
  },
  {
    name: 'leader-elect-resource-name',
    valueName: 'name',
    value: { kind: 'text', of: 'the name of a Lease' },
    defaultNote: 'the name of the ConfigMap',
    help: 'name of the Lease',
  },
  {
    name: 'leader-elect-lease-duration',
    valueName: 'duration',
    value: { kind: 'duration' },
    default: '15s',
    help: 'time for which the Lease holds without being renewed, at least 3s',
  },
  {
    name: 'healthz-port',
    valueName: 'port',
    value: { kind: 'integer', min: 0, max: 65_535, of: 'a port' },
    default: '8080',
    help: 'port of /healthz, /last-poll and /metrics',
  },
  {
    name: 'kubecfg-file',
    valueName: 'file',
    value: { kind: 'file' },
    defaultNote: 'the pod it runs in, else KUBECONFIG, else ~/.kube/config',
    help: 'kubeconfig file',
  },
  {
    name: 'context',
    valueName: 'name',
    value: { kind: 'text', of: 'the name of a context of the kubeconfig file' },
    defaultNote: 'its current context',
    help: 'context of the kubeconfig file',
  },
  {
    name: 'kube-master-url',
    valueName: 'url',
    value: { kind: 'text', of: 'the URL of an API server' },
    defaultNote: 'that of the kubeconfig file',
    help: 'API server',
  },
  { name: 'version', value: 'none', help: 'print the version' },
] as const satisfies readonly Flag[];

type AutoscalerFlagReader = FlagReader<typeof AUTOSCALER_FLAGS>;

export interface AutoscalerSettings {
  readonly plan: AutoscalerPlan;
  readonly cluster: Pick<FindClusterOptions, 'kubecfgFile' | 'context' | 'masterUrl'>;
  readonly healthzPort: number;
  readonly logLevel: LogLevel;
}

export type AutoscalerReading =
  | { readonly kind: 'help' | 'version' }
  /** The original exits with 2 for flags that it cannot parse, and with 1 for invalid values. */
  | { readonly kind: 'bad'; readonly problems: readonly Problem[]; readonly exitCode: 1 | 2 }
  | { readonly kind: 'good'; readonly settings: AutoscalerSettings };

const REMEDY = "See 'portolan autoscaler --help' for those there are.";
/** Flags of the original's log library, beside those of klog. */
const LOG_FLAGS: FlagKinds = new Map([
  ['log-link', 'value'],
  ['logbuflevel', 'value'],
]);
const MIN_LEASE = 3_000;

/** @param words the arguments after the command */
export function readAutoscalerFlags(
  words: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): AutoscalerReading {
  const manners = { dashes: '--', remedy: REMEDY, further: LOG_FLAGS };
  const flags = readProgramFlags(words, AUTOSCALER_FLAGS, manners);
  if (flags.kind !== 'flags') return flags;
  const { given, read } = flags;
  const { problems } = read;
  const defaultParameters = readDefaults(read);
  const logLevel = readLogLevel(given.last('v'), read);
  const isUnreadable = problems.length > 0 || !/^\d+$/.test(read.text('poll-period-seconds') ?? '');
  const settings = { ...readSettings(read, environment, defaultParameters), logLevel };
  if (problems.length === 0) return { kind: 'good', settings };
  return { kind: 'bad', problems, exitCode: isUnreadable ? 2 : 1 };
}

function readSettings(
  read: AutoscalerFlagReader,
  environment: Readonly<Record<string, string | undefined>>,
  defaultParameters: AutoscalerPlan['defaultParameters'],
): Omit<AutoscalerSettings, 'logLevel'> {
  const configMap = readName(read, 'configmap', read.text('configmap'), 'Name one, as in dns-autoscaler.');
  const plan: AutoscalerPlan = {
    targets: readTargets(read),
    namespace: readName(
      read,
      'namespace',
      read.text('namespace') ?? environment['MY_POD_NAMESPACE'],
      'Name one, or set MY_POD_NAMESPACE.',
    ),
    configMap,
    defaultParameters,
    pollPeriod: read.value('poll-period-seconds') * 1000,
    nodeLabels: read.text('nodelabels') ?? '',
    maxSyncFailures: read.value('max-sync-failures'),
    isDryRun: read.isOn('dry-run'),
    scaleDown: { delay: read.value('scale-down-delay'), maxReplicas: read.value('max-scale-down') },
    election: readElection(read, configMap),
  };
  const cluster = {
    kubecfgFile: read.value('kubecfg-file'),
    context: read.value('context'),
    masterUrl: read.value('kube-master-url'),
  };
  return { plan, cluster, healthzPort: read.value('healthz-port') };
}

function readTargets(read: AutoscalerFlagReader): AutoscalerPlan['targets'] {
  const text = read.text('target');
  if (text !== undefined && text !== '') return readScaleTargets('--target', text, read);
  read.addProblem('--target', 'not given', undefined, 'Name one, as in deployment/coredns.');
  return [];
}

/** Reads a name that becomes part of a URL path. */
function readName(
  read: AutoscalerFlagReader,
  flag: 'configmap' | 'namespace' | 'leader-elect-resource-name',
  text: string | undefined,
  remedy: string,
): string {
  if (text === undefined || text === '') read.addProblem(`--${flag}`, 'not given', undefined, remedy);
  else if (!isDns1123Subdomain(text)) read.addProblem(`--${flag}`, 'not the name of an object', text, remedy);
  return text ?? '';
}

function readDefaults(read: AutoscalerFlagReader): AutoscalerPlan['defaultParameters'] {
  const text = read.text('default-params');
  if (text === undefined || text === '') return undefined;
  try {
    return readDefaultParameters(text);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const remedy = 'Give an object, as in {"linear":{"nodesPerReplica":16}}.';
    read.addProblem('--default-params', error.message, text, remedy);
    return undefined;
  }
}

function readElection(read: AutoscalerFlagReader, configMap: string): ElectionPlan | undefined {
  const named = read.text('leader-elect-resource-name') ?? configMap;
  const duration = read.value('leader-elect-lease-duration');
  if (!read.isOn('leader-elect')) return undefined;
  const lease =
    named === configMap ? named : readName(read, 'leader-elect-resource-name', named, 'Name one.');
  if (duration < MIN_LEASE) {
    const remedy = 'Give at least 3s, or the Lease is lost while it is renewed.';
    const text = read.text('leader-elect-lease-duration');
    read.addProblem('--leader-elect-lease-duration', 'too short', text, remedy);
  }
  return { lease, duration };
}
