/**
 * Objects as lines of text: JSON without field names, half as long as with them.
 *
 * An object has exactly one line, so equal lines are equal objects. Memory and snapshots hold lines.
 *
 *     ["S", namespace, name, address, ports]               address: list of IPs, 0 for headless, or an external name
 *     ["E", namespace, name, service, [[addresses, ports]…]]   an address with a hostname is a pair
 *     ["N", name]
 *     ["P", namespace, name, addresses]
 */
import { ItemFault } from '../../base/item-fence.ts';
import { isClusterObject } from './object-check.ts';
import type { ClusterObject, EndpointAddress, EndpointGroup, ServiceObject, ServicePort } from './objects.ts';

export type ObjectLine = string;

/** A line is not an object. */
export class ObjectLineError extends ItemFault {
  override readonly name = 'ObjectLineError';

  constructor(line: string) {
    super('malformed', `not the line of an object: ${line.slice(0, 80)}`);
  }
}

export function writeLine(object: ClusterObject): ObjectLine {
  return JSON.stringify(fieldsOf(object));
}

function fieldsOf(object: ClusterObject): readonly unknown[] {
  switch (object.kind) {
    case 'Service':
      return ['S', object.namespace, object.name, addressField(object.address), object.ports.map(portField)];
    case 'Endpoints':
      return ['E', object.namespace, object.name, object.service, object.groups.map(groupField)];
    case 'Namespace':
      return ['N', object.name];
    case 'Pod':
      return ['P', object.namespace, object.name, object.addresses];
  }
}

function addressField(address: ServiceObject['address']): unknown {
  if (address.kind === 'clusterIPs') return address.addresses;
  return address.kind === 'headless' ? 0 : address.name;
}

const portField = ({ name, protocol, port }: ServicePort): unknown => [name, protocol, port];

const groupField = ({ addresses, ports }: EndpointGroup): unknown => [
  addresses.map(({ address, hostname }) => (hostname === undefined ? address : [address, hostname])),
  ports.map(portField),
];

/**
 * The object of a line that `writeLine` made.
 *
 * @typeParam Kind its known kind
 */
export function readLine<Kind extends ClusterObject>(line: ObjectLine): Kind {
  // `writeLine` wrote the line, and the caller knows the kind.
  return objectOf(JSON.parse(line)) as Kind;
}

/**
 * The object of an untrusted line.
 *
 * @throws ObjectLineError
 */
export function checkLine(line: string): ClusterObject {
  try {
    const object = objectOf(JSON.parse(line));
    if (isClusterObject(object)) return object;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new ObjectLineError(line);
}

/** Does not check the values: a value that is not a list becomes an empty list, or is passed on as it is. */
function objectOf(value: unknown): unknown {
  const [kind, first, name, third, fourth] = listOf(value);
  switch (kind) {
    case 'S':
      return {
        kind: 'Service',
        namespace: first,
        name,
        address: addressOf(third),
        ports: listOf(fourth).map(portOf),
      };
    case 'E':
      return {
        kind: 'Endpoints',
        namespace: first,
        name,
        service: third,
        groups: listOf(fourth).map(groupOf),
      };
    case 'N':
      return { kind: 'Namespace', name: first };
    case 'P':
      return { kind: 'Pod', namespace: first, name, addresses: third };
    default:
      return undefined;
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function addressOf(field: unknown): unknown {
  if (Array.isArray(field)) return { kind: 'clusterIPs', addresses: field };
  return field === 0 ? { kind: 'headless' } : { kind: 'externalName', name: field };
}

function portOf(field: unknown): unknown {
  const [name, protocol, port] = listOf(field);
  return { name, protocol, port };
}

function groupOf(field: unknown): unknown {
  const [addresses, ports] = listOf(field);
  return { addresses: listOf(addresses).map(endpointOf), ports: listOf(ports).map(portOf) };
}

function endpointOf(field: unknown): Partial<Record<keyof EndpointAddress, unknown>> {
  const [address, hostname] = Array.isArray(field) ? listOf(field) : [field, undefined];
  return { address, hostname };
}
