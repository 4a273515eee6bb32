/**
 * Reads the names of options and of hosts files, piece by piece.
 */
import { parseAddress } from '@portolan/dns/address.ts';
import { MAX_NAME_OCTETS } from '@portolan/dns/label.ts';
import { encodeName } from '@portolan/dns/name.ts';
import type { WireName } from '@portolan/dns/types.ts';
import type { ItemGuard } from '@portolan/kernel/base/item-guard.ts';
import type { HostNames } from '@portolan/kernel/records/hosts/host-names.ts';
import type { HostsManner, HostsWarning } from '../hosts/hosts-manner.ts';
import type { HostsFile } from '../hosts/hosts-source.ts';
import { readHostsFiles } from '../hosts/read-hosts-files.ts';
import type { LocalNamesPlan, RangeDomain } from './local-plan.ts';

export interface ReadHostsOptions {
  readonly plan: LocalNamesPlan;
  readonly files: readonly HostsFile[];
  readonly manner: HostsManner;
  readonly onWarning: (file: HostsFile, warning: HostsWarning) => void;
  readonly guard: ItemGuard;
}

/**
 * Reads records of options and then all files. The caller may pause at each yield.
 *
 * @param names without names so far
 * @returns false if a file no longer matches its report, because it is changing
 * @throws TableFullError
 */
export function* readHosts(names: HostNames, options: ReadHostsOptions): Generator<void, boolean> {
  const { plan, files, manner, onWarning, guard } = options;
  addHostRecords(names, plan);
  const expander = plan.expandsHosts ? new Expander(plan) : undefined;
  return yield* readHostsFiles({
    files,
    manner,
    guard,
    onWarning,
    begin: (file) => {
      const origin = names.addOrigin({ ttl: plan.ttl, file: file.path });
      return (address, name, isPlain) => {
        // The longer name first: it gets the PTR record.
        const expanded = isPlain ? expander?.expand(name, address) : undefined;
        if (expanded !== undefined) names.add(expanded, address, origin);
        names.add(name, address, origin);
      };
    },
  });
}

function addHostRecords(names: HostNames, { hostRecords }: LocalNamesPlan): void {
  for (const { names: all, ipv4, ipv6, ttl } of hostRecords) {
    const origin = names.addOrigin({ ttl, file: undefined });
    for (const name of all)
      for (const address of [ipv4, ipv6]) {
        const octets = address === undefined ? undefined : parseAddress(address);
        if (octets !== undefined) names.add(encodeName(name), octets, origin);
      }
  }
}

/** Adds the domain of their address to plain names. */
class Expander {
  readonly #domain: WireName | undefined;
  readonly #ranges: readonly DomainRange[];

  constructor({ domain, rangeDomains }: LocalNamesPlan) {
    this.#domain = domain && encodeName(domain);
    this.#ranges = rangeDomains.flatMap(toOctetRange);
  }

  /** Undefined without a domain, or if the name becomes too long. */
  expand(name: WireName, address: Uint8Array): WireName | undefined {
    const domain = this.#ranges.find((each) => holds(each, address))?.domain ?? this.#domain;
    const labels = name.length - 1;
    if (domain === undefined || labels + domain.length > MAX_NAME_OCTETS) return undefined;
    const expanded = new Uint8Array(labels + domain.length);
    expanded.set(name);
    expanded.set(domain, labels);
    return expanded as WireName; // The labels of one name, then those of another.
  }
}

interface DomainRange {
  readonly domain: WireName;
  readonly first: Uint8Array;
  readonly last: Uint8Array;
}

function toOctetRange({ domain, ...range }: RangeDomain): DomainRange[] {
  const first = parseAddress(range.first);
  const last = parseAddress(range.last);
  return first === undefined || last === undefined ? [] : [{ domain: encodeName(domain), first, last }];
}

function holds({ first, last }: DomainRange, octets: Uint8Array): boolean {
  const isSameFamily = octets.length === first.length;
  return isSameFamily && Buffer.compare(first, octets) <= 0 && Buffer.compare(octets, last) <= 0;
}
