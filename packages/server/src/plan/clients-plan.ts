/**
 * The networks that answers depend on, from the interfaces of this machine.
 */
import type { networkInterfaces } from 'node:os';
import type { AddressRange } from '@portolan/dns/address-range.ts';
import type { ClientsPlan } from '@portolan/kernel/plan/server-blocks-plan.ts';

/** @returns undefined if all clients get the same answers */
export function makeClientsPlan(
  interfaces: ReturnType<typeof networkInterfaces>,
  wanted: Omit<ClientsPlan, 'networks'>,
): ClientsPlan | undefined {
  if (!wanted.servesOnlyNetworks && !wanted.localises) return undefined;
  return { ...wanted, networks: listNetworks(interfaces) };
}

/** The networks of this machine's interfaces, sorted, without duplicates. */
export function listNetworks(interfaces: ReturnType<typeof networkInterfaces>): readonly AddressRange[] {
  const all = Object.values(interfaces).flatMap((entries) => entries ?? []);
  const texts = new Set(all.flatMap(({ cidr }) => cidr ?? []));
  return [...texts].sort().flatMap((text): readonly AddressRange[] => {
    const [address, prefix] = text.split('/');
    return address === undefined || prefix === undefined ? [] : [{ address, prefix: Number(prefix) }];
  });
}
