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
