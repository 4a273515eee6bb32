/**
 * Finds the scale subresource of a target: built in for resources of Kubernetes, by discovery at the API server for all others.
 */
import { type RestClient, RestError } from '@portolan/kubernetes/api/rest/rest-client.ts';
import {
  asList,
  asRecord,
  asText,
  asTexts,
  type JsonRecord,
} from '@portolan/kubernetes/objects/trim/fields.ts';
import type { ScaleResource, ScaleTarget } from '@portolan/server/settings/autoscaler/scale-targets.ts';

export interface ScalePlace {
  /** Path of the scale subresource. */
  readonly path: string;
  /** Type of the scaled object: `apps/v1` and `Deployment`. */
  readonly apiVersion: string;
  readonly kind: string;
}

/** @throws RestError if discovery fails, or if the resource does not exist or has no scale subresource */
export async function findScalePlace(
  { resource, name }: ScaleTarget,
  namespace: string,
  rest: RestClient,
): Promise<ScalePlace> {
  const found = resource.kind === 'known' ? resource : await discover(resource, rest);
  const { root, plural, objectKind } = found;
  return {
    path: `${root}/namespaces/${namespace}/${plural}/${name}/scale`,
    apiVersion: root.replace(/^\/apis?\//, ''),
    kind: objectKind,
  };
}

type Discovered = Extract<ScaleResource, { readonly kind: 'known' }>;

async function discover(
  { word, group }: Extract<ScaleResource, { readonly kind: 'discovered' }>,
  rest: RestClient,
): Promise<Discovered> {
  for (const groupVersion of listVersions(await rest.get(`/apis/${group}`))) {
    const root = `/apis/${groupVersion}`;
    const resources = asList((await rest.get(root))['resources'])
      .map(asRecord)
      .filter((each) => each !== undefined);
    const named = resources.find((each) => isCalled(each, word));
    const plural = asText(named?.['name']);
    const objectKind = asText(named?.['kind']);
    const isScalable = resources.some((each) => each['name'] === `${plural}/scale`);
    if (plural !== undefined && objectKind !== undefined && isScalable)
      return { kind: 'known', root, plural, objectKind };
  }
  throw new RestError(`no resource with a scale subresource: ${word}.${group}`, undefined);
}

/** The preferred one first. */
function listVersions(group: JsonRecord): ReadonlySet<string> {
  const versions = [group['preferredVersion'], ...asList(group['versions'])];
  return new Set(versions.flatMap((each) => asText(asRecord(each)?.['groupVersion']) ?? []));
}

function isCalled(resource: JsonRecord, word: string): boolean {
  const { name, singularName, kind, shortNames, namespaced } = resource;
  const words = [asText(name), asText(singularName), asText(kind)?.toLowerCase(), ...asTexts(shortNames)];
  return namespaced === true && words.includes(word);
}
