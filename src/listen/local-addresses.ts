/**
 * The addresses of this machine, and which of them a server listens on.
 */
import type { NetworkInterfaceInfo } from 'node:os';
import { isWildcard, type SocketAddress } from '../socket/addresses.ts';

/** The interfaces of a machine by name, as `networkInterfaces` has them. */
export type Interfaces = NodeJS.Dict<NetworkInterfaceInfo[]>;

/** IP addresses; `0.0.0.0` and `::` stand for all of a family. `all`: all of the families there are, those to come included. */
export type ListenAddresses = 'all' | readonly string[];

/** The addresses to bind. IPv6 may be switched off, and then nothing can be bound to its wildcard. */
export function addressesToBind(addresses: ListenAddresses, machine: Interfaces): readonly string[] {
  if (addresses !== 'all') return addresses;
  return entriesOf(machine).some(({ family }) => family === 'IPv6') ? ['0.0.0.0', '::'] : ['0.0.0.0'];
}

/** Whether a server that listens there is what answers at an endpoint: to ask it would be to ask itself. */
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
  return isLoopback(address) || entriesOf(machine).some((own) => own.address === address);
}

/** Whether an address can be bound now: it is one of an interface, of loopback, or a wildcard. */
export function isPresent(address: string, machine: Interfaces): boolean {
  const [plain = ''] = address.split('%');
  if (isWildcard(plain) || isLoopback(plain)) return true;
  return entriesOf(machine).some((own) => own.address === plain);
}

/**
 * The addresses that clients may know a server by: those it listens on; where it listens on all, those of the machine but
 * loopback and link-local ones, if there are others.
 */
export function listOwnAddresses(addresses: ListenAddresses, machine: Interfaces): readonly string[] {
  if (addresses !== 'all' && !addresses.some(isWildcard)) return addresses;
  const all = entriesOf(machine);
  const reachable = all.filter(
    ({ address, internal }) => !internal && !address.toLowerCase().startsWith('fe80:'),
  );
  return (reachable.length > 0 ? reachable : all).map(({ address }) => address);
}

function entriesOf(machine: Interfaces): readonly NetworkInterfaceInfo[] {
  return Object.values(machine).flatMap((entries) => entries ?? []);
}

/** All of 127.0.0.0/8 is this machine (RFC 1122 section 3.2.1.3), and no interface lists it. */
const isLoopback = (address: string): boolean => address.startsWith('127.') || address === '::1';
