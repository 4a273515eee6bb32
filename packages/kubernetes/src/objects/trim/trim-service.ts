/**
 * Service: its addresses or its external name, and its ports.
 */
import { isIP } from 'node:net';
import { ALPN_ANNOTATION } from '../../names/app-protocol.ts';
import type { ServiceObject } from '../objects.ts';
import { asList, asRecord, asText, asTexts, type JsonRecord } from './fields.ts';
import { trimServicePorts } from './trim-ports.ts';
import { nameless, readAnnotation, readIdentity, readShared, type Trimmed } from './trimmed.ts';

export function trimService(raw: unknown): Trimmed<ServiceObject> {
  const identity = readIdentity(raw, true);
  if (identity === undefined) return nameless();
  const { namespace, name, key } = identity;
  const spec = asRecord(asRecord(raw)?.['spec']);
  if (spec === undefined) return { kind: 'malformed', key, problem: 'spec is not an object' };
  const address = readAddress(spec);
  if (address === undefined) return { kind: 'malformed', key, problem: 'spec.externalName is not a name' };
  const ports = trimServicePorts(spec['ports'], readAnnotation(raw, ALPN_ANNOTATION));
  const external = readExternal(spec, asRecord(asRecord(raw)?.['status']));
  const found = external.length === 0 ? {} : { external };
  const selects = Object.keys(asRecord(spec['selector']) ?? {}).length > 0 ? { selects: true } : {};
  return {
    kind: 'object',
    object: {
      kind: 'Service',
      namespace,
      name,
      address,
      ports,
      ...selects,
      ...found,
      ...readDistribution(spec, address),
      ...readShared(raw),
    },
  };
}

const DISTRIBUTIONS: ReadonlyMap<unknown, 'zone' | 'node'> = new Map([
  ['PreferClose', 'zone'],
  ['PreferSameZone', 'zone'],
  ['PreferSameNode', 'node'],
]);

/** Traffic of services with addresses of their own is not ours to distribute. */
function readDistribution(
  spec: JsonRecord,
  { kind }: ServiceObject['address'],
): Pick<ServiceObject, 'prefers'> {
  const prefers = kind === 'headless' ? DISTRIBUTIONS.get(spec['trafficDistribution']) : undefined;
  return prefers === undefined ? {} : { prefers };
}

/** A load balancer has either an address or a name. */
function readExternal(spec: JsonRecord, status: JsonRecord | undefined): readonly string[] {
  const ingress = asList(asRecord(status?.['loadBalancer'])?.['ingress']).map((item) => {
    const { ip, hostname } = asRecord(item) ?? {};
    return asText(ip) || asText(hostname) || '';
  });
  return [...asTexts(spec['externalIPs']), ...ingress].filter((text) => text !== '');
}

function readAddress(spec: JsonRecord): ServiceObject['address'] | undefined {
  if (spec['type'] === 'ExternalName') {
    const name = asText(spec['externalName']);
    return name === undefined || name === '' ? undefined : { kind: 'externalName', name };
  }
  // `clusterIPs` came with dual stack; its first element is always `clusterIP`.
  const several = asTexts(spec['clusterIPs']);
  const addresses = several.length > 0 ? several : [asText(spec['clusterIP']) ?? ''];
  if (addresses.includes('None')) return { kind: 'headless' };
  // An empty address is one that the API server has not assigned yet.
  return { kind: 'clusterIPs', addresses: addresses.filter((address) => isIP(address) !== 0) };
}
