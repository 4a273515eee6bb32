/**
 * The address of a Service, from the environment variable that the kubelet sets in containers.
 */
import { type Environment, readVariable } from '../../base/environment.ts';
import { formatAddress, parseAddress } from '../../wire/address.ts';

/** The variable for a Service's address: `KUBE_DNS_UPSTREAM_SERVICE_HOST` for `kube-dns-upstream`. */
export function addressVariableOf(service: string): string {
  return `${service.toUpperCase().replaceAll('-', '_')}_SERVICE_HOST`;
}

/** @returns the address in its shortest form; undefined if the variable holds no address */
export function readServiceAddress(service: string, environment: Environment): string | undefined {
  const address = parseAddress(readVariable(environment, addressVariableOf(service)) ?? '');
  return address && formatAddress(unmapped(address));
}

const MAPPED_PREFIX = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

/** The IPv4 address of an IPv4-mapped one (RFC 4291 section 2.5.5.2). */
function unmapped(address: Uint8Array): Uint8Array {
  const isMapped = address.length === 16 && MAPPED_PREFIX.every((octet, index) => address[index] === octet);
  return isMapped ? address.subarray(12) : address;
}
