/**
 * The addresses of this machine, and the ones that a server listens on.
 */
import type { NetworkInterfaceInfo } from 'node:os';
import { isWildcard, type SocketAddress } from '../socket/addresses.ts';

/** The interfaces of a machine by name, as `networkInterfaces` returns them. */
export type Interfaces = NodeJS.Dict<NetworkInterfaceInfo[]>;

/** IP addresses; `0.0.0.0` and `::` mean all of a family. `all`: all of both families, future ones included. */
export type ListenAddresses = 'all' | readonly string[];

/** The addresses to bind. IPv6 may be disabled; then its wildcard cannot be bound. */
export function addressesToBind(addresses: ListenAddresses, machine: Interfaces): readonly string[] {
  if (addresses !== 'all') return addresses;
  return listInterfaceAddresses(machine).some(({ family }) => family === 'IPv6')
    ? ['0.0.0.0', '::']
    : ['0.0.0.0'];
}

/** Whether a server that listens on these addresses answers at an endpoint itself: forwarding there would loop. */
export function isListeningAt(
  { addresses, port }: { readonly addresses: ListenAddresses; readonly port: number },
  machine: Interfaces,
  endpoint: SocketAddress,
): boolean {
  const { address } = endpoint;
  if (endpoint.port !== port) return false;
  const isSameFamily = (other: string): boolean => other.includes(':') === address.includes(':');
  const isCovered = addresses === 'all' || addresses.some((own) => isWildcard(own) && isSameFamily(own));
  if (!isCovered) return addresses.includes(address);
  return isLoopback(address) || listInterfaceAddresses(machine).some((own) => own.address === address);
}

/** Whether an address can be bound now: an interface has it, or it is a loopback address or a wildcard. */
export function isPresent(address: string, machine: Interfaces): boolean {
  const [plain = ''] = address.split('%');
  if (isWildcard(plain) || isLoopback(plain)) return true;
  return listInterfaceAddresses(machine).some((own) => own.address === plain);
}

/**
 * The addresses by which clients may know a server: those it listens on. If it listens on all: those of the machine,
 * without loopback and link-local ones if there are others.
 */
export function listOwnAddresses(addresses: ListenAddresses, machine: Interfaces): readonly string[] {
  if (addresses !== 'all' && !addresses.some(isWildcard)) return addresses;
  const all = listInterfaceAddresses(machine);
  const reachable = all.filter(
    ({ address, internal }) => !internal && !address.toLowerCase().startsWith('fe80:'),
  );
  return (reachable.length > 0 ? reachable : all).map(({ address }) => address);
}

function listInterfaceAddresses(machine: Interfaces): readonly NetworkInterfaceInfo[] {
  return Object.values(machine).flatMap((entries) => entries ?? []);
}

/** All of 127.0.0.0/8 is this machine (RFC 1122 section 3.2.1.3), but interfaces do not list it. */
/** @param address in its canonical form */
export const isLoopback = (address: string): boolean => address.startsWith('127.') || address === '::1';
