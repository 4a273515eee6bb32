/**
 * Hosts files made into names, piece by piece: a long file does not keep the thread from its other work.
 */
import { parseAddress } from '../../wire/address.ts';
import { NameError, parseName, toKey } from '../../wire/name.ts';
import type { NameKey } from '../../wire/types.ts';
import type { HostLine, HostsFormat, HostsWarning } from '../hosts/hosts-format.ts';
import type { HostsFile } from '../hosts/hosts-source.ts';
import { HostNames } from './host-names.ts';
import type { LocalNamesPlan, RangeDomain } from './local-plan.ts';

export interface ReadHostsOptions {
  readonly plan: LocalNamesPlan;
  readonly files: readonly HostsFile[];
  readonly format: HostsFormat;
  readonly onWarning: (file: HostsFile, warning: HostsWarning) => void;
}

/** Octets that are read at a stretch: about a millisecond. */
const PIECE_OCTETS = 32 * 1024;

/** Reads records of options and then all files. It may be left alone for a while wherever it yields. */
export function* readHosts({ plan, files, format, onWarning }: ReadHostsOptions): Generator<void, HostNames> {
  const names = new HostNames();
  addHostRecords(names, plan);
  const expander = plan.expandsHosts ? new Expander(plan) : undefined;
  for (const file of files) {
    const add = (name: NameKey, address: string) => names.add(name, address, plan.ttl, file.path);
    const host = (line: HostLine) => addLine(line, expander, add);
    const reader = format.open({ host, warning: (warning) => onWarning(file, warning) });
    for (let start = 0; start < file.octets.length; start += PIECE_OCTETS) {
      reader.push(file.octets.subarray(start, start + PIECE_OCTETS));
      yield;
    }
    reader.end();
  }
  return names;
}

function addHostRecords(names: HostNames, { hostRecords }: LocalNamesPlan): void {
  for (const record of hostRecords)
    for (const name of record.names)
      for (const address of [record.ipv4, record.ipv6])
        if (address !== undefined) names.add(name, address, record.ttl);
}

type AddName = (name: NameKey, address: string) => void;

function addLine(line: HostLine, expander: Expander | undefined, add: AddName): void {
  for (const { name, isPlain } of line.names) {
    // The longer name comes first: it is the one that the address leads back to.
    const expanded = isPlain ? expander?.expand(name, line.address) : undefined;
    if (expanded !== undefined) add(expanded, line.address);
    add(name, line.address);
  }
}

/** Adds to plain names the domain of their address. */
class Expander {
  readonly #domain: NameKey | undefined;
  readonly #ranges: readonly OctetRange[];

  constructor({ domain, rangeDomains }: LocalNamesPlan) {
    this.#domain = domain;
    this.#ranges = rangeDomains.flatMap(toOctetRange);
  }

  /** Nothing if there is no domain, or the name becomes too long. */
  expand(name: NameKey, address: string): NameKey | undefined {
    const octets = this.#ranges.length === 0 ? undefined : parseAddress(address);
    const range = octets && this.#ranges.find((each) => holds(each, octets));
    const domain = range?.domain ?? this.#domain;
    if (domain === undefined) return undefined;
    try {
      return toKey(parseName(`${name}${domain}`));
    } catch (error) {
      if (error instanceof NameError) return undefined;
      throw error;
    }
  }
}

interface OctetRange {
  readonly domain: NameKey;
  readonly first: Uint8Array;
  readonly last: Uint8Array;
}

function toOctetRange({ domain, ...range }: RangeDomain): OctetRange[] {
  const [first, last] = [parseAddress(range.first), parseAddress(range.last)];
  return first === undefined || last === undefined ? [] : [{ domain, first, last }];
}

function holds({ first, last }: OctetRange, octets: Uint8Array): boolean {
  const isSameFamily = octets.length === first.length;
  return isSameFamily && Buffer.compare(first, octets) <= 0 && Buffer.compare(octets, last) <= 0;
}
