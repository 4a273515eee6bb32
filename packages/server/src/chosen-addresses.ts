/**
 * Chooses listen addresses: applies dnsmasq's rules for interfaces and addresses to the current interfaces.
 *
 * Without `--bind-interfaces`, dnsmasq binds the wildcard address and discards packets from wrong interfaces. Portolan binds only
 * the addresses that may answer, so it has nothing to discard.
 */
import type { NetworkInterfaceInfo } from 'node:os';
import type { Interfaces, ListenAddresses } from '@portolan/kernel/listen/local-addresses.ts';
import type { InterfaceListenPlan } from './plan/server-plan.ts';

export interface ChosenAddresses {
  readonly addresses: ListenAddresses;
  /** Named interfaces that do not exist. */
  readonly missing: readonly string[];
}

type ChosenInterfaces = Pick<InterfaceListenPlan, 'interfaces' | 'exceptInterfaces' | 'addresses' | 'bind'>;

export function chooseAddresses(plan: ChosenInterfaces, machine: Interfaces): ChosenAddresses {
  const { interfaces, exceptInterfaces, addresses, bind } = plan;
  const isOpen = interfaces === 'all' && exceptInterfaces.length === 0 && addresses.length === 0;
  if (isOpen && bind === 'wildcard') return { addresses: 'all', missing: [] };
  const chosen = new Set(addresses);
  for (const [name, entries = []] of Object.entries(machine)) {
    for (const entry of entries)
      if (isWanted(plan, name, entry)) chosen.add(formatInterfaceAddress(name, entry));
  }
  const named = interfaces === 'all' ? [] : interfaces;
  const missing = named.filter((name) => !name.endsWith('*') && machine[name] === undefined);
  return { addresses: [...chosen], missing };
}

function isWanted(
  { interfaces, exceptInterfaces, addresses }: ChosenInterfaces,
  name: string,
  entry: NetworkInterfaceInfo,
): boolean {
  // Addresses given by the user are bound on any interface.
  if (exceptInterfaces.some((pattern) => matches(pattern, name))) return false;
  if (interfaces === 'all') return addresses.length === 0;
  return entry.internal || interfaces.some((pattern) => matches(pattern, name));
}

/** A final `*` matches any suffix. */
function matches(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

/** A link-local address needs its interface as zone. */
function formatInterfaceAddress(name: string, { address, family, scopeid }: NetworkInterfaceInfo): string {
  return family === 'IPv6' && scopeid !== undefined && scopeid !== 0 ? `${address}%${name}` : address;
}
