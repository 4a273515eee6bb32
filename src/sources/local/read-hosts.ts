/**
 * Reads hosts files into names, piece by piece, so that a long file does not block the thread.
 */
import type { ItemFence } from '../../base/item-fence.ts';
import { parseAddress } from '../../wire/address.ts';
import { MAX_NAME_OCTETS } from '../../wire/label.ts';
import { encodeName } from '../../wire/name.ts';
import type { WireName } from '../../wire/types.ts';
import type { HostsFormat, HostsWarning } from '../hosts/hosts-format.ts';
import type { HostsFile } from '../hosts/hosts-source.ts';
import { HostNames } from './host-names.ts';
import type { LocalNamesPlan, RangeDomain } from './local-plan.ts';

export interface ReadHostsOptions {
  readonly plan: LocalNamesPlan;
  readonly files: readonly HostsFile[];
  readonly format: HostsFormat;
  readonly onWarning: (file: HostsFile, warning: HostsWarning) => void;
  readonly fence: ItemFence;
}

/** Approximate octets of a line, to size the index of names. */
const LINE_OCTETS = 32;

/**
 * Reads records of options and then all files. The caller may pause at each yield.
 *
 * @returns undefined if a file no longer matches its report, because it is changing
 */
export function* readHosts(options: ReadHostsOptions): Generator<void, HostNames | undefined> {
  const { plan, files, format, onWarning, fence } = options;
  const octets = files.reduce((sum, { size }) => sum + size, 0);
  const names = new HostNames(octets / LINE_OCTETS);
  addHostRecords(names, plan);
  const expander = plan.expandsHosts ? new Expander(plan) : undefined;
  for (const file of files) {
    const origin = names.addOrigin({ ttl: plan.ttl, file: file.path });
    const host = (address: Uint8Array, name: WireName, isPlain: boolean) => {
      // The longer name first: it gets the PTR record.
      const expanded = isPlain ? expander?.expand(name, address) : undefined;
      if (expanded !== undefined) names.add(expanded, address, origin);
      names.add(name, address, origin);
    };
    const reader = format.open({
      host,
      warning: (warning) => onWarning(file, warning),
      line: (line, read) => fence.take(() => `${file.path}:${line}`, read),
    });
    const pieces = file.read();
    for (let piece = pieces.next(); ; piece = pieces.next()) {
      if (piece.done === true) {
        if (!piece.value) return undefined;
        break;
      }
      reader.push(piece.value);
      yield;
    }
    reader.end();
  }
  return names;
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
  const [first, last] = [parseAddress(range.first), parseAddress(range.last)];
  return first === undefined || last === undefined ? [] : [{ domain: encodeName(domain), first, last }];
}

function holds({ first, last }: DomainRange, octets: Uint8Array): boolean {
  const isSameFamily = octets.length === first.length;
  return isSameFamily && Buffer.compare(first, octets) <= 0 && Buffer.compare(octets, last) <= 0;
}
