/**
 * The endpoints of one service, merged from all its EndpointSlices or Endpoints objects.
 *
 * An endpoint that moves from one slice to another is briefly in both: it counts once. Endpoints are sorted by address, so
 * that equal endpoints give equal answers in any order of arrival.
 */
import { formatAddress, parseAddress, readIpv4 } from '@portolan/dns/address.ts';
import type { EndpointsObject, ServicePort } from '../objects/objects.ts';
import { hostnameLabel } from './labels.ts';

export interface Endpoint {
  /** Canonical text. */
  readonly address: string;
  /** A label, if it has a hostname of its own. */
  readonly hostname: string | undefined;
  readonly ports: readonly ServicePort[];
}

/** The endpoints of one object, in its order, duplicates included. */
export function toEndpoints({ groups }: EndpointsObject): readonly Endpoint[] {
  const endpoints: Endpoint[] = [];
  for (const { addresses, ports } of groups) {
    for (const { address: text, hostname } of addresses) {
      const address = canonicalAddress(text);
      if (address !== undefined) endpoints.push({ address, hostname: hostnameLabel(hostname), ports });
    }
  }
  return endpoints;
}

/** Merges lists of endpoints. An endpoint of only one list stays the same value. */
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

/** Merges two entries of one endpoint. */
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

/** The key that identifies and orders endpoints. */
export const keyOfEndpoint = ({ address, hostname }: Endpoint): string =>
  hostname === undefined ? address : `${address} ${hostname}`;

/** Whether the list is without duplicates and in the order of merged endpoints. */
function isInOrder(endpoints: readonly Endpoint[]): boolean {
  let before = '';
  for (const endpoint of endpoints) {
    const key = keyOfEndpoint(endpoint);
    if (key <= before) return false;
    before = key;
  }
  return true;
}

export function mergePorts(
  ports: readonly ServicePort[],
  more: readonly ServicePort[],
): readonly ServicePort[] {
  const merged = new Map([...ports, ...more].map((port) => [portKey(port), port]));
  return [...merged].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, port]) => port);
}

const portKey = ({ name, protocol, port }: ServicePort): string => `${name}/${protocol}/${port}`;

/** The canonical text of an address; undefined if the text is not an address. */
export function canonicalAddress(text: string): string | undefined {
  // `readIpv4` accepts only the canonical form.
  if (readIpv4(text) >= 0) return text;
  const octets = parseAddress(text);
  return octets && formatAddress(octets);
}

/** @param client as queries have it: an address of IPv4 may be mapped to one of IPv6 */
export function canonicalClient(client: string): string | undefined {
  return canonicalAddress(client.replace(/^::ffff:(?=\d+\.)/, ''));
}

export const isIpv6 = (address: string): boolean => address.includes(':');

/** Canonical addresses, each once, in the order given. */
export function canonicalAddresses(texts: readonly string[]): readonly string[] {
  return [...new Set(texts.map(canonicalAddress))].filter((address) => address !== undefined);
}

/** The label of an endpoint's name below its service, as CoreDNS makes it. */
export function endpointLabel({ address, hostname }: Pick<Endpoint, 'address' | 'hostname'>): string {
  if (hostname !== undefined) return hostname;
  if (!isIpv6(address)) return address.replaceAll('.', '-');
  const label = address.replaceAll(/[:.]/g, '-');
  // An address that ends in `::` would end the label in a dash.
  return label.endsWith('-') ? `${label}0` : label;
}
