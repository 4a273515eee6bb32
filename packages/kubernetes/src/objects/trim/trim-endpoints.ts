/**
 * Endpoints, the kind before EndpointSlices: the ready addresses of each subset and its ports.
 */
import { isIP } from 'node:net';
import type { EndpointAddress, EndpointGroup, EndpointsObject } from '../objects.ts';
import { asList, asRecord, asText } from './fields.ts';
import { trimPorts } from './trim-ports.ts';
import { nameless, readIdentity, type Trimmed } from './trimmed.ts';

export function trimEndpoints(raw: unknown): Trimmed<EndpointsObject> {
  const identity = readIdentity(raw, true);
  if (identity === undefined) return nameless();
  const { namespace, name } = identity;
  const groups = asList(asRecord(raw)?.['subsets']).flatMap(trimSubset);
  return { kind: 'object', object: { kind: 'Endpoints', namespace, name, service: name, groups } };
}

function trimSubset(value: unknown): EndpointGroup[] {
  const subset = asRecord(value);
  const addresses = asList(subset?.['addresses']).flatMap(trimAddress);
  return addresses.length === 0 ? [] : [{ addresses, ports: trimPorts(subset?.['ports']) }];
}

function trimAddress(value: unknown): EndpointAddress[] {
  const entry = asRecord(value);
  const address = asText(entry?.['ip']) ?? '';
  const hostname = asText(entry?.['hostname']);
  return isIP(address) === 0 ? [] : [{ address, hostname: hostname === '' ? undefined : hostname }];
}
