/**
 * Finds out whether iptables rules drop the queries of pods to a node's cache, or its answers, from the output of `iptables-save`.
 *
 * An `accept` of nftables does not override such a rule, an ACCEPT before it does. A rule counts unless it certainly does not match:
 * one ACCEPT too many does no harm, one too few takes DNS from the pods. Tables before `filter` are ignored: our ACCEPT cannot
 * override their drops, and they drop queries to the Service too.
 */
import { holdsAddress, parseAddressRange } from '@portolan/dns/address-range.ts';
import type { LocalEndpoints } from './packet-rules.ts';

/** The known fields of a packet between a pod and the cache. */
interface KnownPacket {
  /** Whether it goes to the cache; otherwise it is an answer. */
  readonly isQuery: boolean;
  readonly protocol: 'tcp' | 'udp';
  /** Our address: the destination of a query, the source of an answer. */
  readonly address: string;
  readonly port: number;
}

interface SavedOption {
  readonly name: string;
  readonly isNegated: boolean;
  readonly value: string;
}

interface ParsedRule {
  readonly line: string;
  readonly options: readonly SavedOption[];
  readonly target: string | undefined;
}

interface SavedTable {
  readonly policies: ReadonlyMap<string, string>;
  readonly chains: ReadonlyMap<string, readonly ParsedRule[]>;
}

const DROPPING_TARGETS: ReadonlySet<string> = new Set(['DROP', 'REJECT']);
/** A chain of the kubelet on nearly every node: it drops packets marked by kube-proxy, and martian packets to 127.0.0.0/8. */
const KUBELET_CHAIN = 'KUBE-FIREWALL';

/** What is read of the rules besides drops. */
export interface DropOptions {
  /** Whether an ACCEPT before a drop saves a packet that it certainly matches. Default: no, since that rule may go. */
  readonly heedsAccepts?: boolean;
}

/** @param text table `filter` as saved @returns the first policy or rule that may drop, as a line of iptables */
export function findDrop(
  text: string,
  { addresses, dnsPort: port }: Pick<LocalEndpoints, 'addresses' | 'dnsPort'>,
  { heedsAccepts = false }: DropOptions = {},
): string | undefined {
  const table = parseTable(text);
  const find = heedsAccepts ? findVerdict : findPacketDrop;
  for (const address of addresses)
    for (const protocol of ['udp', 'tcp'] as const)
      for (const isQuery of [true, false]) {
        const line = find({ isQuery, protocol, address, port }, table);
        if (line !== undefined) return line;
      }
  return undefined;
}

/** @param text table `raw` as saved @returns whether queries over UDP to this address are certainly not tracked */
export function isUntracked(text: string, address: string, port: number): boolean {
  const packet: KnownPacket = { isQuery: true, protocol: 'udp', address, port };
  const rules = parseTable(text).chains.get('PREROUTING') ?? [];
  return rules.some(({ line, options, target }) => {
    const isNotrack = target === 'NOTRACK' || (target === 'CT' && line.includes('--notrack'));
    return isNotrack && options.every((option) => mustMatch(option, packet));
  });
}

const toChainName = ({ isQuery }: KnownPacket): string => (isQuery ? 'INPUT' : 'OUTPUT');

function findPacketDrop(packet: KnownPacket, table: SavedTable): string | undefined {
  const visited = new Set<string>();
  const search = (chain: string): string | undefined => {
    if (visited.has(chain) || chain === KUBELET_CHAIN) return undefined;
    visited.add(chain);
    for (const { line, options, target } of table.chains.get(chain) ?? []) {
      if (target === undefined || !options.every((option) => mayMatch(option, packet))) continue;
      const found = DROPPING_TARGETS.has(target) ? line : search(target);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const isDropped = table.policies.get(toChainName(packet)) === 'DROP';
  return isDropped ? `-P ${toChainName(packet)} DROP` : search(toChainName(packet));
}

/** A rule that may drop, before any that certainly accepts; or the policy. */
function findVerdict(packet: KnownPacket, table: SavedTable): string | undefined {
  const visited = new Set<string>();
  const search = (chain: string): string | 'accepted' | undefined => {
    if (visited.has(chain) || chain === KUBELET_CHAIN) return undefined;
    visited.add(chain);
    for (const { line, options, target } of table.chains.get(chain) ?? []) {
      if (target === undefined || !options.every((option) => mayMatch(option, packet))) continue;
      const isCertain = options.every((option) => mustMatch(option, packet));
      if (DROPPING_TARGETS.has(target)) return line;
      if (target === 'ACCEPT' && isCertain) return 'accepted';
      const found = search(target);
      // A chain that certainly accepts decides only if the packet certainly comes there.
      if (found !== undefined && (found !== 'accepted' || isCertain)) return found;
    }
    return undefined;
  };
  const chain = toChainName(packet);
  const found = search(chain);
  if (found !== undefined) return found === 'accepted' ? undefined : found;
  return table.policies.get(chain) === 'DROP' ? `-P ${chain} DROP` : undefined;
}

/** False only if it certainly does not match. */
function mayMatch({ name, isNegated, value }: SavedOption, packet: KnownPacket): boolean {
  const matches = matchesOption(name, value, packet);
  return matches === undefined || matches !== isNegated;
}

/** Options that say no more than others beside them. */
const NEUTRAL: ReadonlySet<string> = new Set(['-m', '--comment']);

/** False unless it certainly matches. */
function mustMatch({ name, isNegated, value }: SavedOption, packet: KnownPacket): boolean {
  return NEUTRAL.has(name) || matchesOption(name, value, packet) === !isNegated;
}

/** Undefined if it depends on the packet. */
function matchesOption(name: string, value: string, packet: KnownPacket): boolean | undefined {
  const { isQuery } = packet;
  switch (name) {
    case '-p':
      return value === packet.protocol || value === 'all';
    case isQuery ? '-d' : '-s':
      return isInNetwork(packet.address, value);
    case isQuery ? '--dport' : '--sport':
    case isQuery ? '--dports' : '--sports':
      return value.split(',').some((range) => isInRange(packet.port, range));
    case isQuery ? '-i' : '-o':
      // Packets of pods arrive through other interfaces, with unknown names.
      return value === 'lo' ? false : undefined;
    case '--ctstate':
    case '--state':
      // Our rules set this state.
      return value.split(',').includes('UNTRACKED');
    case isQuery ? '--dst-type' : '--src-type':
      return value.split(',').includes('LOCAL');
    default:
      return undefined;
  }
}

function isInNetwork(address: string, text: string): boolean | undefined {
  const range = parseAddressRange(text);
  // Otherwise the mask is not a prefix length.
  return range && holdsAddress(range, address);
}

/** `53`, `1:1024`. */
function isInRange(port: number, text: string): boolean {
  const [min = '', max = min] = text.split(':');
  return port >= Number(min) && port <= Number(max);
}

function parseTable(text: string): SavedTable {
  const policies = new Map<string, string>();
  const chains = new Map<string, ParsedRule[]>();
  for (const line of text.split('\n')) {
    const [, policyChain, policy] = /^:(\S+) (\S+)/.exec(line) ?? [];
    if (policyChain !== undefined && policy !== undefined) policies.set(policyChain, policy);
    const [, chain, rest] = /^-A (\S+) ?(.*)$/.exec(line) ?? [];
    if (chain === undefined || rest === undefined) continue;
    const rules = chains.get(chain);
    const rule = parseRule(line, rest);
    if (rules === undefined) chains.set(chain, [rule]);
    else rules.push(rule);
  }
  return { policies, chains };
}

function parseRule(line: string, text: string): ParsedRule {
  const words = text.match(/"(?:[^"\\]|\\.)*"|\S+/g) ?? [];
  const options: SavedOption[] = [];
  let target: string | undefined;
  for (const [index, name] of words.entries()) {
    if (!name.startsWith('-')) continue;
    const value = words[index + 1] ?? '';
    if (name === '-j' || name === '-g') target = value;
    // The rest belongs to the target, such as `--reject-with`.
    if (target !== undefined) break;
    options.push({ name, isNegated: words[index - 1] === '!', value });
  }
  return { line, options, target };
}
