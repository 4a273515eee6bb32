/**
 * Filters replies of servers before clients and the cache get them. It translates addresses, turns forged ones into NXDOMAIN, and
 * refuses private ones. It does not let servers deny names that we know.
 */
import { formatAddress, parseAddress } from '@portolan/dns/address.ts';
import { type AddressMatch, type AddressRange, matchRanges } from '@portolan/dns/address-range.ts';
import { isWithin, toKey } from '@portolan/dns/name.ts';
import {
  type Message,
  type NameKey,
  type Question,
  RCODE,
  type ResourceRecord,
} from '@portolan/dns/types.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { isLoopback, isPrivate } from './private-networks.ts';

/** IPv4 only. */
export interface AddressAlias {
  readonly from:
    | { readonly kind: 'masked'; readonly address: string }
    | { readonly kind: 'range'; readonly first: string; readonly last: string };
  readonly to: string;
  /** The bits to take from `to`, and to compare if `from` is masked. */
  readonly mask: string;
}

export interface ReplyRules {
  /** Addresses that turn a reply into NXDOMAIN. */
  readonly bogusNxdomain: readonly AddressRange[];
  /** The first match is applied. */
  readonly aliases: readonly AddressAlias[];
  readonly rebind: {
    /** Whether replies with private addresses are emptied. */
    readonly stops: boolean;
    readonly allowsLocalhost: boolean;
    readonly allowedDomains: readonly NameKey[];
  };
}

/** @returns the same message if no rule applies */
export type ReplyFilter = (question: Question, message: Message) => Message;

/** Whether the rules leave all replies with addresses as they are. */
export function leavesAddresses({ bogusNxdomain, aliases, rebind }: ReplyRules): boolean {
  return bogusNxdomain.length === 0 && aliases.length === 0 && !rebind.stops;
}

/** @param exists whether a name, or one below it, is known here */
export function createReplyFilter(
  rules: ReplyRules,
  exists: (name: NameKey) => boolean,
  log: Log,
): ReplyFilter {
  const isBogus = rules.bogusNxdomain.length === 0 ? undefined : matchRanges(rules.bogusNxdomain);
  const aliases = rules.aliases.map(toAlias);
  return (question, message) => {
    const { rcode } = message.header;
    if (rcode !== RCODE.NOERROR && rcode !== RCODE.NXDOMAIN) return message;
    const key = toKey(question.name);
    if (isBogus !== undefined && rcode === RCODE.NOERROR && hasAddress(message, isBogus))
      return deny(message, RCODE.NXDOMAIN, false);
    if (rcode === RCODE.NXDOMAIN && message.answers.length === 0 && exists(key))
      return { ...message, header: { ...message.header, rcode: RCODE.NOERROR, authoritative: true } };
    const translated = aliases.length === 0 ? message : translate(message, aliases);
    if (!isRebinding(rules.rebind, key, translated)) return translated;
    log.warn('possible DNS-rebind attack detected', { name: key });
    return deny(translated, RCODE.NOERROR, translated.header.authoritative);
  };
}

function hasAddress({ answers }: Message, isWanted: AddressMatch): boolean {
  return answers.some((record) => {
    const octets = parseRecordAddress(record);
    return octets !== undefined && isWanted(octets);
  });
}

function parseRecordAddress({ data }: ResourceRecord): Uint8Array | undefined {
  return data.kind === 'A' || data.kind === 'AAAA' ? parseAddress(data.address) : undefined;
}

/** Replaces the code of a reply, and removes all its records. */
function deny(message: Message, rcode: number, authoritative: boolean): Message {
  const header = { ...message.header, rcode, authoritative, truncated: false };
  return { ...message, header, answers: [], authorities: [], additionals: [] };
}

function isRebinding(rebind: ReplyRules['rebind'], key: NameKey, { answers }: Message): boolean {
  if (!rebind.stops || rebind.allowedDomains.some((domain) => isWithin(key, domain))) return false;
  return answers.some((record) => {
    const octets = parseRecordAddress(record);
    if (octets === undefined || (rebind.allowsLocalhost && isLoopback(octets))) return false;
    return isPrivate(octets, !rebind.allowsLocalhost);
  });
}

interface Translation {
  readonly matches: (address: number) => boolean;
  readonly to: number;
  readonly mask: number;
}

function toAlias({ from, to, mask }: AddressAlias): Translation {
  const bits = toIpv4Number(mask);
  if (from.kind === 'range') {
    const first = toIpv4Number(from.first);
    const last = toIpv4Number(from.last);
    return { matches: (address) => first <= address && address <= last, to: toIpv4Number(to), mask: bits };
  }
  const masked = toIpv4Number(from.address);
  return { matches: (address) => ((address ^ masked) & bits) === 0, to: toIpv4Number(to), mask: bits };
}

/** The octets of an IPv4 address as one number. */
function toIpv4Number(address: string): number {
  return (parseAddress(address) ?? new Uint8Array(4)).reduce((sum, octet) => sum * 256 + octet, 0);
}

function translate(message: Message, aliases: readonly Translation[]): Message {
  const answers = message.answers.map((record) => translateRecord(record, aliases));
  const additionals = message.additionals.map((record) => translateRecord(record, aliases));
  const isSame = (before: readonly ResourceRecord[], now: readonly ResourceRecord[]) =>
    before.every((record, index) => record === now[index]);
  if (isSame(message.answers, answers) && isSame(message.additionals, additionals)) return message;
  // Clear AA: the answer is no longer that of the authority.
  return { ...message, header: { ...message.header, authoritative: false }, answers, additionals };
}

function translateRecord(record: ResourceRecord, aliases: readonly Translation[]): ResourceRecord {
  if (record.data.kind !== 'A') return record;
  const address = toIpv4Number(record.data.address);
  const alias = aliases.find(({ matches }) => matches(address));
  if (alias === undefined) return record;
  const translated = ((address & ~alias.mask) | (alias.to & alias.mask)) >>> 0;
  const octets = Uint8Array.of(translated >>> 24, translated >>> 16, translated >>> 8, translated);
  return { ...record, data: { kind: 'A', address: formatAddress(octets) } };
}
