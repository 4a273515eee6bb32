/**
 * Checks that a value is one of the trimmed objects: for values read from a file.
 */
import type { ClusterObject } from './objects.ts';

/** Whether a parsed value is a valid cluster object. */
export function isClusterObject(value: unknown): value is ClusterObject {
  const { kind, name, namespace, service, address, addresses, ports, groups } = toFields(value);
  if (!isText(name)) return false;
  if (kind === 'Namespace') return true;
  if (!isText(namespace)) return false;
  switch (kind) {
    case 'Pod':
      return isListOf(addresses, isText);
    case 'Service':
      return isServiceAddress(address) && isListOf(ports, isPort);
    case 'Endpoints':
      return isText(service) && isListOf(groups, isGroup);
    default:
      return false;
  }
}

type ObjectFields = { readonly [field: string]: unknown };

/** The fields of an object; empty for any other value. */
function toFields(value: unknown): ObjectFields {
  // Safe: each field is treated as unknown.
  return typeof value === 'object' && value !== null ? (value as ObjectFields) : {};
}

const isText = (value: unknown): value is string => typeof value === 'string';

function isListOf(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isItem);
}

function isServiceAddress(value: unknown): boolean {
  const { kind, addresses, name } = toFields(value);
  if (kind === 'clusterIPs') return isListOf(addresses, isText);
  return kind === 'headless' || (kind === 'externalName' && isText(name));
}

function isPort(value: unknown): boolean {
  const { name, protocol, port } = toFields(value);
  const isNumber = Number.isInteger(port) && Number(port) >= 0 && Number(port) <= 65_535;
  return isNumber && isText(name) && isText(protocol);
}

function isGroup(value: unknown): boolean {
  const { addresses, ports } = toFields(value);
  return isListOf(addresses, isEndpointAddress) && isListOf(ports, isPort);
}

function isEndpointAddress(value: unknown): boolean {
  const { address, hostname } = toFields(value);
  return isText(address) && (hostname === undefined || isText(hostname));
}
