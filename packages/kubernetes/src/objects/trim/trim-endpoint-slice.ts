/**
 * EndpointSlice, `discovery.k8s.io/v1` and `v1beta1` alike: the ready endpoints and their ports.
 *
 * `publishNotReadyAddresses` does not matter here: the controllers mark such endpoints as ready.
 */
import { isIP } from 'node:net';
import type {
  EndpointAddress,
  EndpointHints,
  EndpointsObject,
  EndpointTarget,
  UnreadyAddress,
} from '../objects.ts';
import { asList, asRecord, asText, asTexts, type JsonRecord } from './fields.ts';
import { trimPorts } from './trim-ports.ts';
import { nameless, readAnnotation, readIdentity, readLabel, type Trimmed } from './trimmed.ts';

const SERVICE_NAME = 'kubernetes.io/service-name';
const CHANGE_TIME = 'endpoints.kubernetes.io/last-change-trigger-time';

export function trimEndpointSlice(raw: unknown): Trimmed<EndpointsObject> {
  return trimSlice(raw, SERVICE_NAME);
}

/** The same, with the names of pods for endpoints that have no hostname. */
export function trimEndpointSliceOfPods(raw: unknown): Trimmed<EndpointsObject> {
  return trimSliceOfPods(raw, SERVICE_NAME);
}

/** @param label the one that names the service */
export function trimSlice(raw: unknown, label: string): Trimmed<EndpointsObject> {
  return trim(raw, label, nameByHostname);
}

/** The same, with the names of pods for endpoints that have no hostname. */
export function trimSliceOfPods(raw: unknown, label: string): Trimmed<EndpointsObject> {
  return trim(raw, label, (endpoint) => nameByHostname(endpoint) ?? nameByPod(endpoint));
}

/** Finds the name that an endpoint has below its service. */
type NameEndpoint = (endpoint: JsonRecord | undefined) => string | undefined;

const nameByHostname: NameEndpoint = (endpoint) => {
  const name = asText(endpoint?.['hostname']);
  return name === '' ? undefined : name;
};

const nameByPod: NameEndpoint = (endpoint) => asText(asRecord(endpoint?.['targetRef'])?.['name']);

function trim(raw: unknown, label: string, nameEndpoint: NameEndpoint): Trimmed<EndpointsObject> {
  const identity = readIdentity(raw, true);
  if (identity === undefined) return nameless();
  const { namespace, name, key } = identity;
  const slice = asRecord(raw);
  const service = readLabel(raw, label);
  if (service === undefined || service === '') return { kind: 'left-out', key };
  const endpoints = asList(slice?.['endpoints']);
  const addresses = endpoints.flatMap((endpoint) => readyAddresses(endpoint, nameEndpoint));
  const others = endpoints.flatMap(otherAddresses);
  const targets = isOfNames(slice)
    ? endpoints.flatMap((endpoint) => readyTargets(endpoint, nameEndpoint))
    : [];
  const group = {
    addresses,
    ports: trimPorts(slice?.['ports']),
    ...(others.length > 0 && { others }),
    ...(targets.length > 0 && { targets }),
  };
  const groups = addresses.length + others.length + targets.length === 0 ? [] : [group];
  const object = { kind: 'Endpoints', namespace, name, service, groups } as const;
  const changeTime = readAnnotation(raw, CHANGE_TIME);
  return { kind: 'object', object: changeTime === undefined ? object : { ...object, changeTime } };
}

/** Whether the endpoints of a slice are names. */
function isOfNames(slice: JsonRecord | undefined): boolean {
  return slice?.['addressType'] === 'FQDN';
}

/** Unset means ready, as the API reference says. */
function isReady(endpoint: JsonRecord | undefined): boolean {
  return asRecord(endpoint?.['conditions'])?.['ready'] !== false;
}

function otherAddresses(value: unknown): UnreadyAddress[] {
  const endpoint = asRecord(value);
  if (isReady(endpoint)) return [];
  const isTerminating = asRecord(endpoint?.['conditions'])?.['terminating'] === true;
  return asTexts(endpoint?.['addresses']).flatMap((address) =>
    isIP(address) === 0 ? [] : [{ address, isTerminating }],
  );
}

function readyTargets(value: unknown, nameEndpoint: NameEndpoint): EndpointTarget[] {
  const endpoint = asRecord(value);
  if (!isReady(endpoint)) return [];
  const hostname = nameEndpoint(endpoint);
  return asTexts(endpoint?.['addresses']).flatMap((target) =>
    isIP(target) === 0 && target !== '' ? [{ target, hostname }] : [],
  );
}

function readyAddresses(value: unknown, nameEndpoint: NameEndpoint): EndpointAddress[] {
  const endpoint = asRecord(value);
  if (!isReady(endpoint)) return [];
  const hostname = nameEndpoint(endpoint);
  const zone = asText(endpoint?.['zone']) ?? '';
  const node = asText(endpoint?.['nodeName']) ?? '';
  const hints = readHints(endpoint?.['hints']);
  const rest = {
    hostname,
    ...(zone !== '' && { zone }),
    ...(node !== '' && { node }),
    ...(hints.zones.length + hints.nodes.length > 0 && { hints }),
  };
  return asTexts(endpoint?.['addresses']).flatMap((address) =>
    isIP(address) === 0 ? [] : [{ address, ...rest }],
  );
}

function readHints(value: unknown): EndpointHints {
  const hints = asRecord(value);
  const namesIn = (list: unknown): readonly string[] =>
    asTexts(asList(list).map((item) => asRecord(item)?.['name'])).filter((name) => name !== '');
  return { zones: namesIn(hints?.['forZones']), nodes: namesIn(hints?.['forNodes']) };
}
