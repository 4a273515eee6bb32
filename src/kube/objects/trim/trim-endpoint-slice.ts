/**
 * EndpointSlice, `discovery.k8s.io/v1` and `v1beta1` alike: the ready endpoints and their ports.
 *
 * `publishNotReadyAddresses` does not matter here: the controllers mark such endpoints as ready.
 */
import { isIP } from 'node:net';
import type { EndpointAddress, EndpointsObject } from '../objects.ts';
import { asList, asRecord, asText, asTexts } from './fields.ts';
import { trimPorts } from './trim-ports.ts';
import { nameless, readAnnotation, readIdentity, readLabel, type Trimmed } from './trimmed.ts';

const SERVICE_NAME = 'kubernetes.io/service-name';
const CHANGE_TIME = 'endpoints.kubernetes.io/last-change-trigger-time';

export function trimEndpointSlice(raw: unknown): Trimmed<EndpointsObject> {
  return trim(raw, readyAddresses);
}

/** The same, with the names of pods for endpoints that have no hostname. */
export function trimEndpointSliceOfPods(raw: unknown): Trimmed<EndpointsObject> {
  return trim(raw, (endpoint) => {
    const pod = asText(asRecord(asRecord(endpoint)?.['targetRef'])?.['name']);
    return readyAddresses(endpoint).map((address) => ({ ...address, hostname: address.hostname ?? pod }));
  });
}

function trim(raw: unknown, addressesOf: (endpoint: unknown) => EndpointAddress[]): Trimmed<EndpointsObject> {
  const identity = readIdentity(raw, true);
  if (identity === undefined) return nameless();
  const { namespace, name, key } = identity;
  const slice = asRecord(raw);
  const service = readLabel(raw, SERVICE_NAME);
  if (service === undefined || service === '' || slice?.['addressType'] === 'FQDN') {
    return { kind: 'left-out', key };
  }
  const addresses = asList(slice?.['endpoints']).flatMap(addressesOf);
  const groups = addresses.length === 0 ? [] : [{ addresses, ports: trimPorts(slice?.['ports']) }];
  const object = { kind: 'Endpoints', namespace, name, service, groups } as const;
  const changeTime = readAnnotation(raw, CHANGE_TIME);
  return { kind: 'object', object: changeTime === undefined ? object : { ...object, changeTime } };
}

function readyAddresses(value: unknown): EndpointAddress[] {
  const endpoint = asRecord(value);
  const ready = asRecord(endpoint?.['conditions'])?.['ready'];
  // Unset means ready, as the API reference says.
  if (ready === false) return [];
  const name = asText(endpoint?.['hostname']);
  const hostname = name === '' ? undefined : name;
  return asTexts(endpoint?.['addresses']).flatMap((address) =>
    isIP(address) === 0 ? [] : [{ address, hostname }],
  );
}
