/**
 * The addresses that clients may know this server by.
 */
import { networkInterfaces } from 'node:os';
import type { ListenPlan } from '../config/plan.ts';
import { isWildcard } from '../socket/addresses.ts';

/** Those it listens on; where it listens on all, those of the machine but loopback and link-local ones, if any. */
export function listOwnAddresses({ addresses }: ListenPlan): readonly string[] {
  if (addresses !== 'all' && !addresses.some(isWildcard)) return addresses;
  const all = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  const reachable = all.filter(
    ({ address, internal }) => !internal && !address.toLowerCase().startsWith('fe80:'),
  );
  return (reachable.length > 0 ? reachable : all).map(({ address }) => address);
}

/** Whether this server is what answers there. */
export function isListeningAt({ addresses, port }: ListenPlan, address: string, at: number): boolean {
  if (at !== port) return false;
  const isSameFamily = (other: string) => other.includes(':') === address.includes(':');
  const isCovered = addresses === 'all' || addresses.some((own) => isWildcard(own) && isSameFamily(own));
  if (!isCovered) return addresses.includes(address);
  const all = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  return isLoopback(address) || all.some((own) => own.address === address);
}

/** All of 127.0.0.0/8 is this machine (RFC 1122 section 3.2.1.3), and no interface lists it. */
const isLoopback = (address: string): boolean => address.startsWith('127.') || address === '::1';
