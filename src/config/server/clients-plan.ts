/**
 * Which networks answers depend on, from the interfaces of this machine.
 */
import type { networkInterfaces } from 'node:os';
import type { AddressRange } from '../../wire/address-range.ts';
import type { ClientsPlan } from './server-blocks-plan.ts';

/** @returns undefined where all clients are answered alike */
export function makeClientsPlan(
  interfaces: ReturnType<typeof networkInterfaces>,
  wanted: Omit<ClientsPlan, 'networks'>,
): ClientsPlan | undefined {
  if (!wanted.servesOnlyNetworks && !wanted.localises) return undefined;
  return { ...wanted, networks: listNetworks(interfaces) };
}

/** The networks that this machine is part of, sorted, each once. */
export function listNetworks(interfaces: ReturnType<typeof networkInterfaces>): readonly AddressRange[] {
  const all = Object.values(interfaces).flatMap((entries) => entries ?? []);
  const texts = new Set(all.flatMap(({ cidr }) => cidr ?? []));
  return [...texts].sort().flatMap((text): readonly AddressRange[] => {
    const [address, prefix] = text.split('/');
    return address === undefined || prefix === undefined ? [] : [{ address, prefix: Number(prefix) }];
  });
}
