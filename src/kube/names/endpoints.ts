/**
 * The endpoints of one service, out of however many EndpointSlices or Endpoints objects it has.
 *
 * While endpoints move from one slice to another they are in both for a moment: each counts once. The order is that of
 * the addresses, so that equal endpoints make equal answers whatever order they came in.
 */
import { formatAddress, parseAddress, readIpv4 } from '../../wire/address.ts';
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

/** Endpoints that are in one list only are handed on as they are. */
export function mergeEndpoints(lists: readonly (readonly Endpoint[])[]): readonly Endpoint[] {
  const [only = NO_ENDPOINTS, ...others] = lists;
  if (others.length === 0 && isInOrder(only)) return only;
  const merged = new Map<string, Endpoint>();
  for (const endpoint of lists.flat()) {
    const key = keyOfEndpoint(endpoint);
    const before = merged.get(key);
    merged.set(key, before === undefined ? endpoint : mergeTwo(before, endpoint));
  }
  return [...merged].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, endpoint]) => endpoint);
}

/** One endpoint that is in two places. */
export function mergeTwo(one: Endpoint, other: Endpoint): Endpoint {
  if (haveSamePorts(one, other)) return one;
  const { address, hostname } = one;
  return { address, hostname, ports: mergePorts(one.ports, other.ports) };
}

type Ports = Pick<Endpoint, 'ports'>;

export function haveSamePorts({ ports }: Ports, { ports: others }: Ports): boolean {
  if (ports === others) return true;
  if (ports.length !== others.length) return false;
  return ports.every((port, index) => {
    const other = others[index];
    return port.port === other?.port && port.name === other.name && port.protocol === other.protocol;
  });
}

const NO_ENDPOINTS: readonly Endpoint[] = [];

/** What an endpoint is known and ordered by. */
export const keyOfEndpoint = ({ address, hostname }: Endpoint): string =>
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
  const merged = new Map([...ports, ...more].map((port) => [portKey(port), port]));
  return [...merged].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, port]) => port);
}

const portKey = ({ name, protocol, port }: ServicePort): string => `${name}/${protocol}/${port}`;

/** The one text of an address; nothing if the text is none. */
export function canonicalAddress(text: string): string | undefined {
  // The reader of IPv4 takes the canonical form alone.
  if (readIpv4(text) >= 0) return text;
  const octets = parseAddress(text);
  return octets && formatAddress(octets);
}

export const isIpv6 = (address: string): boolean => address.includes(':');

/** Canonical addresses, each once, in the order given. */
export function canonicalAddresses(texts: readonly string[]): readonly string[] {
  return [...new Set(texts.map(canonicalAddress))].filter((address) => address !== undefined);
}
