/**
 * The fields of Kubernetes objects that DNS needs, by their numbers in the published `.proto` files, which never change.
 */
import {
  type Cursor,
  type Field,
  type FieldKind,
  readMessage,
  type Schema,
} from '@portolan/kernel/base/protobuf-message.ts';
import { ALPN_ANNOTATION } from '../names/app-protocol.ts';
import { SHARED_ANNOTATION } from '../objects/trim/trimmed.ts';
import { EncodedObject } from './encoded-object.ts';

type Definition = readonly [number: number, name: string, kind: FieldKind, more?: Schema | readonly string[]];

function define(...definitions: readonly Definition[]): Schema {
  const fields = definitions.map(([number, name, kind, more]): [number, Field] => {
    if (more === undefined) return [number, { name, kind }];
    if (more instanceof Map) return [number, { name, kind, schema: more }];
    return [number, { name, kind, keys: new Set(more as readonly string[]) }];
  });
  return new Map(fields);
}

const LABELS = [
  'kubernetes.io/service-name',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
];

/** @param labels undefined: all */
const metadataWith = (labels: readonly string[] | undefined): Schema =>
  define(
    [1, 'name', 'text'],
    [3, 'namespace', 'text'],
    [5, 'uid', 'text'],
    [6, 'resourceVersion', 'text'],
    labels === undefined ? [11, 'labels', 'map'] : [11, 'labels', 'map', labels],
    [
      12,
      'annotations',
      'map',
      [
        'k8s.io/initial-events-end',
        'endpoints.kubernetes.io/last-change-trigger-time',
        ALPN_ANNOTATION,
        SHARED_ANNOTATION,
      ],
    ],
  );

const objectMeta = metadataWith(LABELS);

/** `v1` ListMeta. */
export const listMeta = define(
  [2, 'resourceVersion', 'text'],
  [3, 'continue', 'text'],
  [4, 'remainingItemCount', 'number'],
);

const metadataOnly = define([1, 'metadata', 'message', objectMeta]);

const ingress = define([1, 'ip', 'text'], [2, 'hostname', 'text']);

const servicePort = define(
  [1, 'name', 'text'],
  [2, 'protocol', 'text'],
  [3, 'port', 'number'],
  [6, 'appProtocol', 'text'],
);

const service = define(
  [1, 'metadata', 'message', objectMeta],
  [
    2,
    'spec',
    'message',
    define(
      [1, 'ports', 'messages', servicePort],
      [2, 'selector', 'map'],
      [3, 'clusterIP', 'text'],
      [4, 'type', 'text'],
      [5, 'externalIPs', 'texts'],
      [10, 'externalName', 'text'],
      [18, 'clusterIPs', 'texts'],
      [23, 'trafficDistribution', 'text'],
    ),
  ],
  [
    3,
    'status',
    'message',
    define([1, 'loadBalancer', 'message', define([1, 'ingress', 'messages', ingress])]),
  ],
);

const named = define([1, 'name', 'text']);

const endpointSlice = define(
  [1, 'metadata', 'message', objectMeta],
  [
    2,
    'endpoints',
    'messages',
    define(
      [1, 'addresses', 'texts'],
      [2, 'conditions', 'message', define([1, 'ready', 'flag'], [3, 'terminating', 'flag'])],
      [3, 'hostname', 'text'],
      [4, 'targetRef', 'message', define([3, 'name', 'text'])],
      [6, 'nodeName', 'text'],
      [7, 'zone', 'text'],
      [8, 'hints', 'message', define([1, 'forZones', 'messages', named], [2, 'forNodes', 'messages', named])],
    ),
  ],
  [3, 'ports', 'messages', define([1, 'name', 'text'], [2, 'protocol', 'text'], [3, 'port', 'number'])],
  [4, 'addressType', 'text'],
);

const endpoints = define(
  [1, 'metadata', 'message', objectMeta],
  [
    2,
    'subsets',
    'messages',
    define(
      [1, 'addresses', 'messages', define([1, 'ip', 'text'], [3, 'hostname', 'text'])],
      [3, 'ports', 'messages', define([1, 'name', 'text'], [2, 'port', 'number'], [3, 'protocol', 'text'])],
    ),
  ],
);

const namespace = define([1, 'metadata', 'message', metadataWith(undefined)]);

const pod = define(
  [1, 'metadata', 'message', metadataWith(undefined)],
  [
    2,
    'spec',
    'message',
    define(
      [6, 'dnsPolicy', 'text'],
      [7, 'nodeSelector', 'map', ['kubernetes.io/os']],
      [11, 'hostNetwork', 'flag'],
      [26, 'dnsConfig', 'message', define([2, 'searches', 'texts'])],
      [36, 'os', 'message', define([1, 'name', 'text'])],
    ),
  ],
  [
    3,
    'status',
    'message',
    define([1, 'phase', 'text'], [6, 'podIP', 'text'], [12, 'podIPs', 'messages', define([1, 'ip', 'text'])]),
  ],
);

const node = define(
  [1, 'metadata', 'message', objectMeta],
  [
    2,
    'spec',
    'message',
    define([1, 'podCIDR', 'text'], [4, 'unschedulable', 'flag'], [7, 'podCIDRs', 'texts']),
  ],
  [
    3,
    'status',
    'message',
    define(
      [2, 'allocatable', 'quantities', ['cpu']],
      [4, 'conditions', 'messages', define([1, 'type', 'text'], [2, 'status', 'text'])],
      [5, 'addresses', 'messages', define([1, 'type', 'text'], [2, 'address', 'text'])],
    ),
  ],
);

const configMap = define([1, 'metadata', 'message', objectMeta], [2, 'data', 'map']);

const status = define(
  [1, 'metadata', 'message', listMeta],
  [3, 'message', 'text'],
  [4, 'reason', 'text'],
  [
    5,
    'details',
    'message',
    define([4, 'causes', 'messages', define([1, 'reason', 'text'])], [5, 'retryAfterSeconds', 'number']),
  ],
  [6, 'code', 'number'],
);

const SCHEMAS: ReadonlyMap<string, Schema> = new Map([
  ['Service', service],
  ['EndpointSlice', endpointSlice],
  ['Endpoints', endpoints],
  ['Namespace', namespace],
  ['Pod', pod],
  ['Node', node],
  ['ConfigMap', configMap],
  ['Status', status],
]);

/** The kinds that are read when their fields are asked for. */
const LAZY: ReadonlySet<string> = new Set(['Service', 'EndpointSlice']);

/**
 * Reads an object of a kind, in the shape of JSON.
 *
 * @throws ProtobufError
 */
export function readObjectOfKind(kind: string, object: Cursor): unknown {
  if (!LAZY.has(kind)) return readMessage(object, selectSchema(kind));
  return new EncodedObject(object.octets, [object.position, object.end], selectSchema(kind), metadataOnly);
}

/** For a kind that is not listed here, only the metadata. */
function selectSchema(kind: string): Schema {
  return SCHEMAS.get(kind) ?? metadataOnly;
}
