/**
 * What a cluster imports from its cluster set, as services and endpoints: ServiceImport of the Multi-Cluster Services API, and
 * the EndpointSlices that belong to one.
 */
import { isIP } from 'node:net';
import type { EndpointsObject, ServiceObject } from '../objects.ts';
import { asRecord, asText, asTexts } from './fields.ts';
import { trimSlice, trimSliceOfPods } from './trim-endpoint-slice.ts';
import { trimPorts } from './trim-ports.ts';
import { nameless, readIdentity, readLabel, type Trimmed } from './trimmed.ts';

export const IMPORTED_SERVICE = 'multicluster.kubernetes.io/service-name';
const SOURCE_CLUSTER = 'multicluster.kubernetes.io/source-cluster';

/** An import has addresses, unless its type is Headless. */
export function trimServiceImport(raw: unknown): Trimmed<ServiceObject> {
  const identity = readIdentity(raw, true);
  if (identity === undefined) return nameless();
  const { namespace, name, key } = identity;
  const spec = asRecord(asRecord(raw)?.['spec']);
  if (spec === undefined) return { kind: 'malformed', key, problem: 'spec is not an object' };
  const addresses = asTexts(spec['ips']).filter((address) => isIP(address) !== 0);
  const address =
    spec['type'] === 'Headless'
      ? ({ kind: 'headless' } as const)
      : ({ kind: 'clusterIPs', addresses } as const);
  return {
    kind: 'object',
    object: { kind: 'Service', namespace, name, address, ports: trimPorts(spec['ports']) },
  };
}

export function trimImportedSlice(raw: unknown): Trimmed<EndpointsObject> {
  return withCluster(trimSlice(raw, IMPORTED_SERVICE), raw);
}

/** The same, with the names of pods for endpoints that have no hostname. */
export function trimImportedSliceOfPods(raw: unknown): Trimmed<EndpointsObject> {
  return withCluster(trimSliceOfPods(raw, IMPORTED_SERVICE), raw);
}

function withCluster(trimmed: Trimmed<EndpointsObject>, raw: unknown): Trimmed<EndpointsObject> {
  const cluster = asText(readLabel(raw, SOURCE_CLUSTER));
  if (trimmed.kind !== 'object' || cluster === undefined || cluster === '') return trimmed;
  return { kind: 'object', object: { ...trimmed.object, cluster } };
}
