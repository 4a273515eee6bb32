/**
 * Objects as lines of text, as snapshots had them before: JSON without field names. They are only read.
 *
 *     ["S", namespace, name, address, ports]               address: list of IPs, 0 for headless, or an external name
 *     ["E", namespace, name, service, [[addresses, ports]…]]   an address with a hostname is a pair
 *     ["N", name]
 *     ["P", namespace, name, addresses]
 */
import { ItemFault } from '@portolan/kernel/base/item-guard.ts';
import { isClusterObject } from './object-check.ts';
import type { ClusterObject, EndpointAddress } from './objects.ts';

/** A line is not an object. */
export class ObjectLineError extends ItemFault {
  override readonly name = 'ObjectLineError';

  constructor(line: string) {
    super('malformed', `not the line of an object: ${line.slice(0, 80)}`);
  }
}

/**
 * The object of an untrusted line.
 *
 * @throws ObjectLineError
 */
export function checkLine(line: string): ClusterObject {
  try {
    const object = toObject(JSON.parse(line));
    if (isClusterObject(object)) return object;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new ObjectLineError(line);
}

/** Does not check the values: a value that is not a list becomes an empty list, or is passed on as it is. */
function toObject(value: unknown): unknown {
  const [kind, first, name, third, fourth] = asList(value);
  switch (kind) {
    case 'S':
      return {
        kind: 'Service',
        namespace: first,
        name,
        address: toServiceAddress(third),
        ports: asList(fourth).map(toPort),
      };
    case 'E':
      return {
        kind: 'Endpoints',
        namespace: first,
        name,
        service: third,
        groups: asList(fourth).map(toGroup),
      };
    case 'N':
      return { kind: 'Namespace', name: first };
    case 'P':
      return { kind: 'Pod', namespace: first, name, addresses: third };
    default:
      return undefined;
  }
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function toServiceAddress(field: unknown): unknown {
  if (Array.isArray(field)) return { kind: 'clusterIPs', addresses: field };
  return field === 0 ? { kind: 'headless' } : { kind: 'externalName', name: field };
}

function toPort(field: unknown): unknown {
  const [name, protocol, port] = asList(field);
  return { name, protocol, port };
}

function toGroup(field: unknown): unknown {
  const [addresses, ports] = asList(field);
  return { addresses: asList(addresses).map(toEndpoint), ports: asList(ports).map(toPort) };
}

function toEndpoint(field: unknown): Partial<Record<keyof EndpointAddress, unknown>> {
  const [address, hostname] = Array.isArray(field) ? asList(field) : [field, undefined];
  return { address, hostname };
}
