/**
 * Which addresses to listen on: dnsmasq's rules for interfaces and addresses, applied to what the machine has now.
 *
 * dnsmasq binds the wildcard address and throws away what came by a wrong interface, unless it is told to bind interfaces.
 * Here only the addresses that may answer are bound at all, so nothing is received to be thrown away.
 */
import type { NetworkInterfaceInfo } from 'node:os';
import type { DnsmasqListenPlan } from '../../config/dnsmasq/plan.ts';

export type Interfaces = NodeJS.Dict<NetworkInterfaceInfo[]>;

export type ListenChoice =
  /** All addresses, those to come included. */
  | { readonly kind: 'all' }
  | {
      readonly kind: 'some';
      readonly addresses: readonly string[];
      /** Interfaces that were named and are not there. */
      readonly missing: readonly string[];
    };

type Terms = Pick<DnsmasqListenPlan, 'interfaces' | 'exceptInterfaces' | 'addresses' | 'bind'>;

export function chooseAddresses(plan: Terms, machine: Interfaces): ListenChoice {
  const { interfaces, exceptInterfaces, addresses, bind } = plan;
  const isOpen = interfaces === 'all' && exceptInterfaces.length === 0 && addresses.length === 0;
  if (isOpen && bind === 'wildcard') return { kind: 'all' };
  const chosen = new Set(addresses);
  for (const [name, entries = []] of Object.entries(machine)) {
    for (const entry of entries) if (isWanted(plan, name, entry)) chosen.add(addressOf(name, entry));
  }
  const named = interfaces === 'all' ? [] : interfaces;
  const missing = named.filter((name) => !name.endsWith('*') && machine[name] === undefined);
  return { kind: 'some', addresses: [...chosen], missing };
}

/** Whether it is this server that answers there: to ask it would be to ask ourselves. */
export function isListeningAt(
  plan: Terms & Pick<DnsmasqListenPlan, 'port'>,
  machine: Interfaces,
  { address, port }: { readonly address: string; readonly port: number },
): boolean {
  if (port !== plan.port) return false;
  const choice = chooseAddresses(plan, machine);
  if (choice.kind === 'some') return choice.addresses.includes(address);
  // All of 127.0.0.0/8 is this machine (RFC 1122 section 3.2.1.3), and no interface lists it.
  if (address.startsWith('127.')) return true;
  return Object.values(machine).some((entries) => entries?.some((entry) => entry.address === address));
}

function isWanted(
  { interfaces, exceptInterfaces, addresses }: Terms,
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
