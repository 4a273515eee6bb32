/**
 * The names and addresses of a hosts file, followed by those of lines in the configuration, as CoreDNS finds them.
 *
 * Each of the two texts has wildcards of its own: where it lacks addresses of a family for a name, those of `*` in place of the first
 * label count.
 */
import { formatAddress } from '@portolan/dns/address.ts';
import { encodeName, splitLabels, toParent } from '@portolan/dns/name.ts';
import { isWildcardName, keyOfWire } from '@portolan/dns/name-wire.ts';
import { type NameKey, type RecordData, TYPE, type WireName } from '@portolan/dns/types.ts';
import type { HostNames } from '@portolan/kernel/records/hosts/host-names.ts';

export type HostsFamily = 'ipv4' | 'ipv6';

const OCTETS = { ipv4: 4, ipv6: 16 } as const;
const WILDCARD = '*.';

export class HostLines {
  readonly names: HostNames;
  /** Names that have a wildcard right below them. */
  readonly wildcardParents = new Set<NameKey>();
  /** The numbers of the texts that have names, in order. */
  readonly #texts = new Set<number>();

  constructor(names: HostNames) {
    this.names = names;
  }

  /** @param text the number of its origin; @throws TableFullError */
  add(name: WireName, address: Uint8Array, text: number): void {
    this.names.add(name, address, text);
    this.#texts.add(text);
    if (isWildcardName(name)) this.wildcardParents.add(keyOfWire(name.subarray(2) as WireName));
  }

  /** Call it when all names are added. Readers know no wildcards: names that one may add addresses to have nodes. The caller may pause at each yield. */
  *finish(): Generator<void, void> {
    if (this.wildcardParents.size === 0) return;
    let count = 0;
    for (const name of this.names.names()) {
      count += 1;
      if (count % STRETCH === 0) yield;
      const parent = toParent(keyOfWire(name));
      if (parent !== undefined && this.wildcardParents.has(parent)) this.names.setApart(name);
    }
  }

  /** The records of a name: A, AAAA or PTR; empty for other types. */
  findData(name: NameKey, type: number): readonly RecordData[] {
    if (type === TYPE.A)
      return this.findAddresses(name, 'ipv4').map((octets) => ({
        kind: 'A',
        address: formatAddress(octets),
      }));
    if (type === TYPE.AAAA)
      return this.findAddresses(name, 'ipv6').map((octets) => ({
        kind: 'AAAA',
        address: formatAddress(octets),
      }));
    return type === TYPE.PTR ? this.findNames(name).map((target) => ({ kind: 'PTR', target })) : [];
  }

  /** Those of the file first. */
  findAddresses(name: NameKey, family: HostsFamily): readonly Uint8Array[] {
    const own = this.#findExactAddresses(name, family);
    const wildcard = this.#findWildcard(name);
    if (wildcard === undefined) return own.map(({ octets }) => octets);
    const added = this.#findExactAddresses(wildcard, family);
    return [...this.#texts].flatMap((text) => {
      const ofText = own.filter(({ origin }) => origin === text);
      const found = ofText.length > 0 ? ofText : added.filter(({ origin }) => origin === text);
      return found.map(({ octets }) => octets);
    });
  }

  isKnown(name: NameKey): boolean {
    if (this.names.has(encodeName(name))) return true;
    const wildcard = this.#findWildcard(name);
    return wildcard !== undefined && this.names.has(encodeName(wildcard));
  }

  /** @param name the reverse name of an address */
  findNames(name: NameKey): readonly NameKey[] {
    return this.names.pointers(encodeName(name)).map(({ target }) => keyOfWire(target));
  }

  #findExactAddresses(name: NameKey, family: HostsFamily) {
    return this.names
      .findAddresses(encodeName(name))
      .filter(({ octets }) => octets.length === OCTETS[family]);
  }

  /** Undefined if the name has no such wildcard beside it. */
  #findWildcard(name: NameKey): NameKey | undefined {
    if (this.wildcardParents.size === 0 || splitLabels(name).length < 2) return undefined;
    const parent = toParent(name);
    if (parent === undefined || !this.wildcardParents.has(parent)) return undefined;
    // A label in lower case before a key.
    return `${WILDCARD}${parent}` as NameKey;
  }
}

/** Names looked at without a pause: about a millisecond. */
const STRETCH = 500;
