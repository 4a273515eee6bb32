/**
 * The endpoints of one service, out of however many EndpointSlices or Endpoints objects it has.
 *
 * While endpoints move from one slice to another they are in both for a moment: each counts once. The order is that of
 * the addresses, so that equal endpoints make equal answers whatever order they came in.
 */
import { completeSteps, inSteps, PIECES_PER_STEP, type Steps } from '../../base/steps.ts';
import { formatAddress, parseAddress } from '../../wire/address.ts';
import type { EndpointsObject, ServicePort } from '../objects/objects.ts';
import { hostnameLabel } from './labels.ts';

export interface Endpoint {
  /** Canonical text. */
  readonly address: string;
  /** A label, if it has a hostname of its own. */
  readonly hostname: string | undefined;
  readonly ports: readonly ServicePort[];
}

/** The endpoints of one object, in its order. One that is in it twice is there twice. */
export function endpointsOf({ groups }: EndpointsObject): readonly Endpoint[] {
  const endpoints: Endpoint[] = [];
  for (const { addresses, ports } of groups) {
    for (const { address: text, hostname } of addresses) {
      const address = canonicalAddress(text);
      if (address !== undefined) endpoints.push({ address, hostname: hostnameLabel(hostname), ports });
    }
  }
  return endpoints;
}

/** Endpoints of several objects, in their order. */
export interface MergedEndpoints {
  /** What they are ordered by. */
  readonly keys: readonly string[];
  readonly endpoints: readonly Endpoint[];
}

/** Endpoints that are in one list only are handed on as they are. */
export function mergeEndpoints(lists: readonly (readonly Endpoint[])[]): readonly Endpoint[] {
  const [only = NO_ENDPOINTS, ...others] = lists;
  if (others.length === 0 && isInOrder(only)) return only;
  return completeSteps(mergeInSteps(lists, [])).endpoints;
}

/**
 * As `mergeEndpoints`, for thousands of endpoints.
 *
 * @param before the keys of the last call: what is in order already costs little to sort
 */
export function* mergeInSteps(
  lists: readonly (readonly Endpoint[])[],
  before: readonly string[],
): Steps<MergedEndpoints> {
  const merged = new Map<string, Endpoint>();
  let pieces = 0;
  for (const endpoints of lists) {
    for (const endpoint of endpoints) addEndpoint(merged, endpoint);
    pieces += endpoints.length;
    if (pieces < PIECES_PER_STEP) continue;
    pieces = 0;
    yield;
  }
  const keys = yield* orderKeys(merged, before);
  const ordered: Endpoint[] = [];
  yield* inSteps(keys, (key) => {
    const endpoint = merged.get(key);
    if (endpoint !== undefined) ordered.push(endpoint);
  });
  return { keys, endpoints: ordered };
}

function addEndpoint(merged: Map<string, Endpoint>, endpoint: Endpoint): void {
  const { address, hostname, ports } = endpoint;
  const key = keyOfEndpoint(endpoint);
  const before = merged.get(key);
  const isSame = before === undefined || before.ports === ports;
  merged.set(key, isSame ? endpoint : { address, hostname, ports: mergePorts(before.ports, ports) });
}

/** Sorted runs one behind the other, which the last sort joins at little cost: those from before, and new ones in parts. */
function* orderKeys(merged: ReadonlyMap<string, Endpoint>, before: readonly string[]): Steps<string[]> {
  const keys: string[] = [];
  yield* inSteps(before, (key) => {
    if (merged.has(key)) keys.push(key);
  });
  if (keys.length === merged.size) return keys;
  const known = new Set(keys);
  let added: string[] = [];
  for (const key of merged.keys()) {
    if (known.has(key)) continue;
    added.push(key);
    if (added.length < PIECES_PER_STEP) continue;
    for (const one of added.sort()) keys.push(one);
    added = [];
    yield;
  }
  for (const one of added.sort()) keys.push(one);
  yield;
  return keys.sort();
}

const NO_ENDPOINTS: readonly Endpoint[] = [];

const keyOfEndpoint = ({ address, hostname }: Endpoint): string =>
  hostname === undefined ? address : `${address} ${hostname}`;

/** Whether they are each there once, and in the order of merged ones. */
function isInOrder(endpoints: readonly Endpoint[]): boolean {
  let before = '';
  for (const endpoint of endpoints) {
    const key = keyOfEndpoint(endpoint);
    if (key <= before) return false;
    before = key;
  }
  return true;
}

function mergePorts(ports: readonly ServicePort[], more: readonly ServicePort[]): readonly ServicePort[] {
  if (ports === more) return ports;
  const merged = new Map([...ports, ...more].map((port) => [portKey(port), port]));
  return [...merged].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, port]) => port);
}

const portKey = ({ name, protocol, port }: ServicePort): string => `${name}/${protocol}/${port}`;

/** The one text of an address; nothing if the text is none. */
export function canonicalAddress(text: string): string | undefined {
  const octets = parseAddress(text);
  if (octets === undefined) return undefined;
  // The reader of IPv4 takes the canonical form alone.
  return octets.length === 4 ? text : formatAddress(octets);
}

export const isIpv6 = (address: string): boolean => address.includes(':');

/** Canonical addresses, each once, in the order given. */
export function canonicalAddresses(texts: readonly string[]): readonly string[] {
  return [...new Set(texts.map(canonicalAddress))].filter((address) => address !== undefined);
}
