/**
 * The names and addresses of a hosts file, followed by those of lines in the configuration.
 *
 * Immutable: a changed file makes a new object. Lines without an address and a name are ignored, as in CoreDNS.
 */
import { readItem } from '../../base/item-fence.ts';
import { formatAddress, parseAddress, reverseName } from '../../wire/address.ts';
import { isWithin, parentOf, splitLabels, tryParseKey } from '../../wire/name.ts';
import type { NameKey } from '../../wire/types.ts';

export type HostsFamily = 'ipv4' | 'ipv6';

/** The content of one text: addresses by name, and names by address, each in the order of its lines. */
class HostsText {
  readonly addresses: Readonly<Record<HostsFamily, Map<NameKey, string[]>>> = {
    ipv4: new Map(),
    ipv6: new Map(),
  };
  /** By reverse names. */
  readonly pointers = new Map<NameKey, NameKey[]>();
  size = 0;
  /** Lines that made the program fail. */
  readonly failures: LineFailure[] = [];

  constructor(text: string, rules: HostsRules) {
    for (const [index, line] of text.split('\n').entries()) {
      const reading = readItem(() => this.#readLine(line, rules));
      if (reading.kind === 'rejected') this.failures.push({ line: index + 1, problem: reading.problem });
    }
  }

  #readLine(line: string, { zones, hasReverse }: HostsRules): void {
    const [first = '', ...words] = (line.split('#', 1)[0] ?? '').trim().split(/\s+/);
    const address = readAddress(first);
    if (address === undefined) return;
    for (const word of words) {
      const name = tryParseKey(word);
      if (name !== undefined && zones.some((zone) => isWithin(name, zone)))
        this.#add(name, address, hasReverse);
    }
  }

  #add(name: NameKey, address: string, hasReverse: boolean): void {
    append(this.addresses[address.includes(':') ? 'ipv6' : 'ipv4'], name, address);
    this.size += 1;
    if (!hasReverse || isWildcard(name)) return;
    append(this.pointers, reverseName(address), name);
    this.size += 1;
  }
}

export interface LineFailure {
  /** From 1. */
  readonly line: number;
  readonly problem: string;
}

export interface HostsRules {
  /** Names outside them are ignored. */
  readonly zones: readonly NameKey[];
  /** Whether addresses are answered with names. */
  readonly hasReverse: boolean;
}

/** The names of the file, and of lines of the configuration. These lines are read once and used with every version of the file. */
export class HostsNames {
  readonly #texts: readonly HostsText[];

  private constructor(texts: readonly HostsText[]) {
    this.#texts = texts;
  }

  /** Only the names of lines of the configuration. */
  static ofLines(lines: readonly string[], rules: HostsRules): HostsNames {
    return new HostsNames([new HostsText('', rules), new HostsText(lines.join('\n'), rules)]);
  }

  /** The same lines behind those of a file. */
  withFile(text: string, rules: HostsRules): HostsNames {
    return new HostsNames([new HostsText(text, rules), ...this.#texts.slice(1)]);
  }

  /** Those of the file first. If a text does not have the name, its wildcard counts, with `*` as the first label. */
  addressesOf(name: NameKey, family: HostsFamily): readonly string[] {
    const wildcard = wildcardOf(name);
    return this.#texts.flatMap(({ addresses }) => {
      const own = addresses[family].get(name);
      return own ?? (wildcard === undefined ? [] : (addresses[family].get(wildcard) ?? []));
    });
  }

  /** Lines of the file that were ignored because they made the program fail. */
  get failures(): readonly LineFailure[] {
    return this.#texts[0]?.failures ?? [];
  }

  isKnown(name: NameKey): boolean {
    return this.addressesOf(name, 'ipv4').length > 0 || this.addressesOf(name, 'ipv6').length > 0;
  }

  /** @param name the reverse name of an address */
  namesOf(name: NameKey): readonly NameKey[] {
    return this.#texts.flatMap(({ pointers }) => pointers.get(name) ?? []);
  }

  /** Names with lines of their own, and reverse names of addresses, without wildcards; may have duplicates. */
  *names(): Iterable<NameKey> {
    for (const { addresses, pointers } of this.#texts) {
      for (const name of [...addresses.ipv4.keys(), ...addresses.ipv6.keys()])
        if (!isWildcard(name)) yield name;
      yield* pointers.keys();
    }
  }

  /** Names that have a wildcard right below them; may have duplicates. */
  *wildcardParents(): Iterable<NameKey> {
    for (const { addresses } of this.#texts)
      for (const name of [...addresses.ipv4.keys(), ...addresses.ipv6.keys()]) {
        const parent = isWildcard(name) ? parentOf(name) : undefined;
        if (parent !== undefined) yield parent;
      }
  }

  /** Number of entries: each address of a name, and each name of an address. */
  get size(): number {
    return this.#texts.reduce((total, { size }) => total + size, 0);
  }
}

function append<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

/** The canonical text; converts an IPv4-mapped IPv6 address to IPv4, and drops the zone of an interface. */
function readAddress(word: string): string | undefined {
  const octets = parseAddress(word.split('%', 1)[0] ?? word);
  if (octets === undefined) return undefined;
  return formatAddress(isMapped(octets) ? octets.subarray(12) : octets);
}

/** RFC 4291 section 2.5.5.2. */
function isMapped(octets: Uint8Array): boolean {
  return octets.length === 16 && octets.subarray(0, 12).every((octet, at) => octet === (at < 10 ? 0 : 0xff));
}

function isWildcard(name: NameKey): boolean {
  return name.startsWith('*.');
}

/** Undefined for names of one label. */
function wildcardOf(name: NameKey): NameKey | undefined {
  const parent = parentOf(name);
  if (parent === undefined || splitLabels(name).length < 2) return undefined;
  // A label in lower case before a key.
  return `*.${parent}` as NameKey;
}
