/**
 * The endpoints of one service, out of however many EndpointSlices or Endpoints objects it has.
 *
 * While endpoints move from one slice to another they are in both for a moment: each counts once. The order is that of
 * the addresses, so that equal endpoints make equal answers whatever order they came in.
 */
import { formatAddress, parseAddress } from '../wire/address.ts';
import { hostnameLabel } from './labels.ts';
import type { EndpointsObject, ServicePort } from './objects.ts';

export interface Endpoint {
  /** Canonical text. */
  readonly address: string;
  /** A label, if it has a hostname of its own. */
  readonly hostname: string | undefined;
  readonly ports: readonly ServicePort[];
}

export function mergeEndpoints(objects: readonly EndpointsObject[]): readonly Endpoint[] {
  const merged = new Map<string, Endpoint>();
  for (const { groups } of objects) {
    for (const { addresses, ports } of groups) {
      for (const { address: text, hostname: name } of addresses) {
        const address = canonicalAddress(text);
        if (address === undefined) continue;
        const hostname = hostnameLabel(name);
        const key = hostname === undefined ? address : `${address} ${hostname}`;
        const before = merged.get(key);
        merged.set(key, {
          address,
          hostname,
          ports: before === undefined ? ports : mergePorts(before.ports, ports),
        });
      }
    }
  }
  return [...merged].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, endpoint]) => endpoint);
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
