/**
 * The address of a Service, from the environment variable that the kubelet sets in containers.
 */
import { formatAddress, parseAddress, unmapAddress } from '@portolan/dns/address.ts';
import { type Environment, readVariable } from '@portolan/kernel/base/environment.ts';

/** The variable for a Service's address: `KUBE_DNS_UPSTREAM_SERVICE_HOST` for `kube-dns-upstream`. */
export function toAddressVariable(service: string): string {
  return `${service.toUpperCase().replaceAll('-', '_')}_SERVICE_HOST`;
}

/** @returns the address in its shortest form; undefined if the variable holds no address */
export function readServiceAddress(service: string, environment: Environment): string | undefined {
  const address = parseAddress(readVariable(environment, toAddressVariable(service)) ?? '');
  return address && formatAddress(unmapAddress(address));
}
