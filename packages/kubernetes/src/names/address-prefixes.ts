/**
 * Whether any address lies below a name of the reverse tree that is not a whole address (`10.in-addr.arpa`).
 *
 * Few clients ask, so the first question builds the sorted addresses. Later changes are merged in at the next question.
 */
import { parseAddress } from '@portolan/dns/address.ts';
import { splitLabels } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import { isIpv6 } from './endpoints.ts';

/** Up to this many changes between two questions are made one by one; a merge would visit all addresses of the cluster. */
const MAX_SINGLY = 256;

export class AddressPrefixes {
  #sorted: string[] | undefined;
  readonly #added = new Set<string>();
  readonly #removed = new Set<string>();

  /** Whether a question has been asked: until then, changes need not be reported. */
  get isBuilt(): boolean {
    return this.#sorted !== undefined;
  }

  /** Call it when an address was added. */
  add(address: string): void {
    if (this.#sorted === undefined) return;
    this.#removed.delete(address);
    this.#added.add(address);
  }

  /** Call it when an address was removed. */
  remove(address: string): void {
    if (this.#sorted === undefined) return;
    this.#added.delete(address);
    this.#removed.add(address);
  }

  /**
   * Whether the name exists because of an address below it.
   *
   * @param all all existing addresses, read only at the first call
   */
  has(name: NameKey, all: Iterable<string>): boolean {
    const prefix = parseReversePrefix(name);
    if (prefix === undefined) return false;
    const sorted = this.#merge(all);
    const found = sorted[lowerBound(sorted, prefix)];
    return found?.startsWith(prefix) ?? false;
  }

  #merge(all: Iterable<string>): readonly string[] {
    if (this.#sorted === undefined) this.#sorted = Array.from(all, toPrefixText).sort();
    if (this.#added.size === 0 && this.#removed.size === 0) return this.#sorted;
    const removed = Array.from(this.#removed, toPrefixText);
    const added = Array.from(this.#added, toPrefixText);
    const isSmall = removed.length + added.length <= MAX_SINGLY;
    this.#sorted = isSmall ? changeSingly(this.#sorted, removed, added) : merge(this.#sorted, removed, added);
    this.#added.clear();
    this.#removed.clear();
    return this.#sorted;
  }
}

function changeSingly(sorted: string[], removed: readonly string[], added: readonly string[]): string[] {
  for (const text of removed) {
    const at = lowerBound(sorted, text);
    if (sorted[at] === text) sorted.splice(at, 1);
  }
  for (const text of added) {
    const at = lowerBound(sorted, text);
    if (sorted[at] !== text) sorted.splice(at, 0, text);
  }
  return sorted;
}

function merge(sorted: readonly string[], removed: readonly string[], added: readonly string[]): string[] {
  const gone = new Set([...removed, ...added]);
  // Two sorted runs: the best case of the engine's merge sort.
  return [...sorted.filter((text) => !gone.has(text)), ...[...added].sort()].sort();
}

const IPV4 = '4 ';
const IPV6 = '6 ';

/** Text whose prefixes are prefixes of the address: `4 10.244.1.10.`, or `6` and the 32 digits of an IPv6 address. */
function toPrefixText(address: string): string {
  if (!isIpv6(address)) return `${IPV4}${address}.`;
  return IPV6 + Buffer.from(parseAddress(address) ?? []).toString('hex');
}

const OCTET = /^(?:0|[1-9]\d{0,2})$/;
const DIGIT = /^[0-9a-f]$/;

const MAX_OCTETS = 4;
const MAX_DIGITS = 32;

/** Whether a name of the reverse tree is above addresses. */
export function isReversePrefix(name: NameKey): boolean {
  const labels = splitLabels(name);
  const longest = labels.at(-2) === 'in-addr' ? MAX_OCTETS : MAX_DIGITS;
  return labels.length - 2 < longest && parseReversePrefix(name) !== undefined;
}

function parseReversePrefix(name: NameKey): string | undefined {
  const labels = splitLabels(name);
  const digits = labels.slice(0, -2).reverse();
  const isIpv4 = labels.at(-2) === 'in-addr';
  if (!digits.every((digit) => (isIpv4 ? OCTET : DIGIT).test(digit))) return undefined;
  return isIpv4 ? IPV4 + digits.map((digit) => `${digit}.`).join('') : IPV6 + digits.join('');
}

/** The first index whose text is not before `prefix`. */
function lowerBound(sorted: readonly string[], prefix: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? '') < prefix) low = middle + 1;
    else high = middle;
  }
  return low;
}
