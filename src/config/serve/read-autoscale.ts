/**
 * What the flags about autoscaling say, as the plan of an autoscaler.
 */
import { isDns1123Subdomain } from '../../kube/names/name-rules.ts';
import type { AutoscalerPlan } from '../autoscaler/autoscaler-plan.ts';
import { readDefaultParameters } from '../autoscaler/default-parameters.ts';
import { GoJsonError } from '../autoscaler/go-json.ts';
import { readScaleTargets } from '../autoscaler/scale-targets.ts';
import type { ServeFlagReader } from './serve-flags.ts';

/** Milliseconds, as the autoscaler has them where nothing else is said. */
const POLL_PERIOD = 10_000;
const LEASE_DURATION = 15_000;

/** @returns nothing where nothing is to be scaled */
export function readAutoscale(read: ServeFlagReader, hasApiServer: boolean): AutoscalerPlan | undefined {
  const text = read.value('autoscale');
  if (text === undefined) return undefined;
  if (!hasApiServer) read.addProblem('--autoscale', 'there is no API server to ask', text, 'Leave it out.');
  const configMap = readName(read, 'autoscale-configmap');
  return {
    targets: readScaleTargets('--autoscale', text, read),
    namespace: readName(read, 'autoscale-namespace'),
    configMap,
    defaultParameters: readDefaults(read),
    pollPeriod: POLL_PERIOD,
    nodeLabels: '',
    maxSyncFailures: 0,
    isDryRun: false,
    scaleDown: { delay: 0, maxReplicas: 0 },
    election: { lease: configMap, duration: LEASE_DURATION },
  };
}

/** A name that becomes a part of a path. */
function readName(read: ServeFlagReader, flag: 'autoscale-configmap' | 'autoscale-namespace'): string {
  const name = read.value(flag);
  if (!isDns1123Subdomain(name))
    read.addProblem(
      `--${flag}`,
      'not the name of an object',
      name,
      'Give lower-case letters, digits and dashes.',
    );
  return name;
}

function readDefaults(read: ServeFlagReader): ReadonlyMap<string, string> {
  const text = read.value('autoscale-default-params');
  try {
    return readDefaultParameters(text);
  } catch (error) {
    if (!(error instanceof GoJsonError)) throw error;
    const remedy = 'Give an object, as in {"linear":{"nodesPerReplica":16}}.';
    read.addProblem('--autoscale-default-params', error.message, text, remedy);
    return new Map();
  }
}
