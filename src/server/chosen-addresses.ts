/**
 * Which addresses to listen on: dnsmasq's rules for interfaces and addresses, applied to what the machine has now.
 *
 * dnsmasq binds the wildcard address and discards what came by a wrong interface, unless it is told to bind interfaces. Here
 * only the addresses that may answer are bound at all, so nothing is received to be discarded.
 */
import type { NetworkInterfaceInfo } from 'node:os';
import type { InterfaceListenPlan } from '../config/server/server-plan.ts';
import type { Interfaces, ListenAddresses } from '../listen/local-addresses.ts';

export interface ChosenAddresses {
  readonly addresses: ListenAddresses;
  /** Interfaces that were named and are not there. */
  readonly missing: readonly string[];
}

type Settings = Pick<InterfaceListenPlan, 'interfaces' | 'exceptInterfaces' | 'addresses' | 'bind'>;

export function chooseAddresses(plan: Settings, machine: Interfaces): ChosenAddresses {
  const { interfaces, exceptInterfaces, addresses, bind } = plan;
  const isOpen = interfaces === 'all' && exceptInterfaces.length === 0 && addresses.length === 0;
  if (isOpen && bind === 'wildcard') return { addresses: 'all', missing: [] };
  const chosen = new Set(addresses);
  for (const [name, entries = []] of Object.entries(machine)) {
    for (const entry of entries) if (isWanted(plan, name, entry)) chosen.add(addressOf(name, entry));
  }
  const named = interfaces === 'all' ? [] : interfaces;
  const missing = named.filter((name) => !name.endsWith('*') && machine[name] === undefined);
  return { addresses: [...chosen], missing };
}

function isWanted(
  { interfaces, exceptInterfaces, addresses }: Settings,
  name: string,
  entry: NetworkInterfaceInfo,
): boolean {
  // Addresses that are named are bound whatever their interface is.
  if (exceptInterfaces.some((pattern) => matches(pattern, name))) return false;
  if (interfaces === 'all') return addresses.length === 0;
  return entry.internal || interfaces.some((pattern) => matches(pattern, name));
}

/** A final `*` stands for any end. */
function matches(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

/** A link-local address is bound together with its interface. */
function addressOf(name: string, { address, family, scopeid }: NetworkInterfaceInfo): string {
  return family === 'IPv6' && scopeid !== undefined && scopeid !== 0 ? `${address}%${name}` : address;
}
