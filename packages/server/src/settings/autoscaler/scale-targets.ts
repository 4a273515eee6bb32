/**
 * Scale targets: `deployment/coredns`, several separated by commas, or any resource with a scale subresource, written as resource
 * name and API group, as in `rollouts.argoproj.io/web`.
 */
import { isDns1123Subdomain } from '@portolan/kubernetes/names/name-rules.ts';
import type { ValueReader } from '../values/value-reader.ts';

export interface ScaleTarget {
  /** As given on the command line, in lower case: for messages and metrics. */
  readonly shown: string;
  readonly name: string;
  readonly resource: ScaleResource;
}

export type ScaleResource =
  /** A resource with a known path: `/apis/apps/v1` and `deployments`. */
  | {
      readonly kind: 'known';
      readonly root: string;
      readonly plural: string;
      readonly objectKind: string;
    }
  /** A resource that must be looked up at the API server. */
  | { readonly kind: 'discovered'; readonly word: string; readonly group: string };

const APPS = '/apis/apps/v1';
const KNOWN: ReadonlyMap<string, ScaleResource> = new Map<string, ScaleResource>([
  ['deployment', { kind: 'known', root: APPS, plural: 'deployments', objectKind: 'Deployment' }],
  ['replicaset', { kind: 'known', root: APPS, plural: 'replicasets', objectKind: 'ReplicaSet' }],
  ['statefulset', { kind: 'known', root: APPS, plural: 'statefulsets', objectKind: 'StatefulSet' }],
  [
    'replicationcontroller',
    {
      kind: 'known',
      root: '/api/v1',
      plural: 'replicationcontrollers',
      objectKind: 'ReplicationController',
    },
  ],
]);
const REMEDY =
  'Give deployment/NAME, replicaset/NAME, statefulset/NAME, replicationcontroller/NAME or RESOURCE.GROUP/NAME, with commas between several.';

/** @param where the flag, for messages */
export function readScaleTargets(where: string, text: string, read: ValueReader): readonly ScaleTarget[] {
  const targets = new Map<string, ScaleTarget>();
  for (const part of text.toLowerCase().split(',')) {
    const target = readScaleTarget(part.trim());
    if (target === undefined) read.addProblem(where, 'not a target', part.trim(), REMEDY);
    else targets.set(target.shown, target);
  }
  return [...targets.values()];
}

function readScaleTarget(shown: string): ScaleTarget | undefined {
  const [type = '', name = '', ...more] = shown.split('/');
  const resource = readResource(type);
  // The name becomes part of a path.
  if (resource === undefined || more.length > 0 || !isDns1123Subdomain(name)) return undefined;
  return { shown, name, resource };
}

function readResource(type: string): ScaleResource | undefined {
  const dot = type.indexOf('.');
  if (dot < 0) return KNOWN.get(type) ?? [...KNOWN.values()].find((each) => isPluralOf(type, each));
  const word = type.slice(0, dot);
  const group = type.slice(dot + 1);
  const isGood = isDns1123Subdomain(word) && isDns1123Subdomain(group);
  return isGood ? { kind: 'discovered', word, group } : undefined;
}

function isPluralOf(word: string, resource: ScaleResource): boolean {
  return resource.kind === 'known' && resource.plural === word;
}
