/**
 * Reads the flags of the autoscaler to its plan.
 */
import { isDns1123Subdomain } from '@portolan/kubernetes/names/name-rules.ts';
import type { AutoscalerPlan } from '@portolan/server/settings/autoscaler/autoscaler-plan.ts';
import { readDefaultParameters } from '@portolan/server/settings/autoscaler/default-parameters.ts';
import { JsonError } from '@portolan/server/settings/autoscaler/json-node.ts';
import { readScaleTargets } from '@portolan/server/settings/autoscaler/scale-targets.ts';
import type { NameIn } from '@portolan/server/settings/flags/flag-reader.ts';
import type { ValueReader } from '@portolan/server/settings/values/value-reader.ts';
import { AUTOSCALE_FLAGS } from './autoscale-flags.ts';

/** The flag reader of any server that can run the autoscaler. */
export interface AutoscaleReader extends ValueReader {
  text(name: NameIn<typeof AUTOSCALE_FLAGS>): string | undefined;
  shown(name: NameIn<typeof AUTOSCALE_FLAGS>): string;
  requireWith(name: NameIn<typeof AUTOSCALE_FLAGS>, other: 'autoscale', remedy: string): void;
}

/** Milliseconds; the autoscaler's default. */
const POLL_PERIOD = 10_000;
const LEASE_DURATION = 15_000;

/** @returns undefined if there is nothing to scale */
export function readAutoscale(read: AutoscaleReader, hasApiServer: boolean): AutoscalerPlan | undefined {
  for (const { name } of AUTOSCALE_FLAGS)
    if (name !== 'autoscale') read.requireWith(name, 'autoscale', 'give');
  const text = read.text('autoscale');
  if (text === undefined) return undefined;
  const where = read.shown('autoscale');
  if (!hasApiServer) read.addProblem(where, 'there is no API server to ask', text, 'Leave it out.');
  const configMap = readName(read, 'autoscale-configmap');
  return {
    targets: readScaleTargets(where, text, read),
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

/** Reads a name that becomes part of a URL path. */
function readName(read: AutoscaleReader, flag: 'autoscale-configmap' | 'autoscale-namespace'): string {
  const name = read.text(flag) ?? '';
  if (!isDns1123Subdomain(name))
    read.addProblem(
      read.shown(flag),
      'not the name of an object',
      name,
      'Give lower-case letters, digits and dashes.',
    );
  return name;
}

function readDefaults(read: AutoscaleReader): ReadonlyMap<string, string> {
  const text = read.text('autoscale-default-params') ?? '';
  try {
    return readDefaultParameters(text);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const remedy = 'Give an object, as in {"linear":{"nodesPerReplica":16}}.';
    read.addProblem(read.shown('autoscale-default-params'), error.message, text, remedy);
    return new Map();
  }
}
