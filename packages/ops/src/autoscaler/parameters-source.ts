/**
 * Reads the ConfigMap with the parameters at each poll, and creates it from the default parameters if it does not exist.
 */
import { type RestClient, RestError } from '@portolan/kubernetes/api/rest/rest-client.ts';
import type { JsonRecord } from '@portolan/kubernetes/objects/trim/fields.ts';
import { trimConfigMap } from '@portolan/kubernetes/objects/trim/trim-config-map.ts';
import type { AutoscalerPlan } from '@portolan/server/settings/autoscaler/autoscaler-plan.ts';

export interface FetchedParameters {
  readonly data: ReadonlyMap<string, string>;
  readonly wasCreated: boolean;
}

type ParametersPlace = Pick<AutoscalerPlan, 'namespace' | 'configMap' | 'defaultParameters' | 'isDryRun'>;

/** @throws RestError. Creates the ConfigMap only if it does not exist, not after any other refusal. */
export async function fetchParameters(
  rest: RestClient,
  { namespace, configMap: name, defaultParameters, isDryRun }: ParametersPlace,
): Promise<FetchedParameters> {
  const collection = `/api/v1/namespaces/${namespace}/configmaps`;
  try {
    return { data: readConfigMapData(await rest.get(`${collection}/${name}`)), wasCreated: false };
  } catch (error) {
    if (!isStatus(error, 404) || defaultParameters === undefined) throw error;
  }
  if (isDryRun) return { data: defaultParameters, wasCreated: false };
  const metadata = { name, namespace };
  const data = Object.fromEntries(defaultParameters);
  try {
    await rest.create(collection, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
    return { data: defaultParameters, wasCreated: true };
  } catch (error) {
    if (!isStatus(error, 409)) throw error;
    // Another instance was faster.
    return { data: readConfigMapData(await rest.get(`${collection}/${name}`)), wasCreated: false };
  }
}

function readConfigMapData(object: JsonRecord): ReadonlyMap<string, string> {
  const trimmed = trimConfigMap(object);
  return trimmed.kind === 'object' ? trimmed.object.data : new Map();
}

function isStatus(error: unknown, status: number): boolean {
  return error instanceof RestError && error.status === status;
}
