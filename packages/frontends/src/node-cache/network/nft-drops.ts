/**
 * Finds out whether rules of nftables drop the queries of pods to a node's cache, or its answers, and whether they are tracked; from the
 * output of `nft -j list ruleset`.
 *
 * As for iptables, a rule that drops counts unless it certainly does not match; one that accepts counts if it certainly matches.
 */
import { isIP } from 'node:net';
import { holdsAddress, parseAddressRange } from '@portolan/dns/address-range.ts';

interface Packet {
  readonly isQuery: boolean;
  readonly protocol: 'tcp' | 'udp';
  /** Our address. */
  readonly address: string;
  readonly port: number;
}

type Json = Readonly<Record<string, unknown>>;

interface NftRule {
  readonly expressions: readonly Json[];
}

interface NftChain {
  /** `inet firewall input`. */
  readonly name: string;
  readonly hook: string | undefined;
  readonly dropsByDefault: boolean;
  readonly rules: NftRule[];
}

type Chains = ReadonlyMap<string, NftChain>;

/** What a packet meets: the chain that decides. */
type PacketVerdict = { readonly kind: 'drop'; readonly where: string } | { readonly kind: 'accept' };

/** The hooks that a packet of the node passes. */
const HOOKS = { query: ['prerouting', 'input'], answer: ['output', 'postrouting'] } as const;
/** The tables that iptables writes by nftables. */
const TABLES_OF_IPTABLES = /^(?:ip6?|arp|bridge) (?:raw|mangle|nat|filter|security) /;
/** Statements that decide nothing about the packet. */
const NEUTRAL: ReadonlySet<string> = new Set(['counter', 'comment', 'log', 'mangle', 'notrack']);

export interface NftOptions {
  /** Whether the tables of iptables are read elsewhere. */
  readonly skipsIptables: boolean;
}

/** @param text JSON @returns the chains that may drop, each with its reason @throws SyntaxError for other text */
export function findNftDrops(
  text: string,
  { addresses, dnsPort: port }: { readonly addresses: readonly string[]; readonly dnsPort: number },
  options: NftOptions,
): readonly string[] {
  const chains = parseChains(text, options);
  const found = new Set<string>();
  for (const address of addresses)
    for (const protocol of ['udp', 'tcp'] as const)
      for (const isQuery of [true, false]) {
        const hooks: readonly string[] = isQuery ? HOOKS.query : HOOKS.answer;
        for (const chain of chains.values()) {
          if (chain.hook === undefined || !hooks.includes(chain.hook) || !mayHold(chain, address)) continue;
          const verdict = judge({ isQuery, protocol, address, port }, chain, chains);
          if (verdict?.kind === 'drop') found.add(verdict.where);
        }
      }
  return [...found];
}

/** Whether queries over UDP to this address are certainly not tracked. @throws SyntaxError */
export function isUntrackedByNft(text: string, address: string, port: number): boolean {
  const packet: Packet = { isQuery: true, protocol: 'udp', address, port };
  const chains = parseChains(text, { skipsIptables: false });
  return [...chains.values()].some(
    ({ hook, rules }) =>
      hook === 'prerouting' &&
      rules.some(
        ({ expressions }) =>
          expressions.some((each) => 'notrack' in each) &&
          expressions.every((each) => matches(each, packet) === true),
      ),
  );
}

/** A chain of `ip` does not see packets of IPv6. */
function mayHold({ name }: NftChain, address: string): boolean {
  const family = name.split(' ', 1)[0];
  return family === 'inet' || family === (isIP(address) === 6 ? 'ip6' : 'ip');
}

function judge(packet: Packet, base: NftChain, chains: Chains): PacketVerdict | undefined {
  const visited = new Set<NftChain>();
  const search = (chain: NftChain): PacketVerdict | undefined => {
    if (visited.has(chain)) return undefined;
    visited.add(chain);
    for (const { expressions } of chain.rules) {
      const matched = expressions.map((each) => matches(each, packet));
      if (matched.includes(false)) continue;
      const isCertain = matched.every((each) => each === true);
      const verdict = findVerdict(expressions, chain, chains, search);
      if (verdict?.kind === 'drop' || (verdict?.kind === 'accept' && isCertain)) return verdict;
    }
    return undefined;
  };
  const found = search(base);
  if (found !== undefined) return found;
  return base.dropsByDefault ? { kind: 'drop', where: `nft: policy drop of chain ${base.name}` } : undefined;
}

function findVerdict(
  expressions: readonly Json[],
  chain: NftChain,
  chains: Chains,
  search: (chain: NftChain) => PacketVerdict | undefined,
): PacketVerdict | undefined {
  for (const expression of expressions) {
    if ('accept' in expression) return { kind: 'accept' };
    const word = ['drop', 'reject'].find((each) => each in expression);
    if (word !== undefined) return { kind: 'drop', where: `nft: ${word} in chain ${chain.name}` };
    const target = [expression['jump'], expression['goto']].map(asObject).find((each) => each !== undefined);
    const next = chains.get(`${toTableName(chain)} ${target?.['target']}`);
    if (next !== undefined) return search(next);
  }
  return undefined;
}

/** Undefined if it depends on the packet, or is not known here. */
function matches(expression: Json, packet: Packet): boolean | undefined {
  const match = asObject(expression['match']);
  if (match === undefined) {
    const words = Object.keys(expression);
    const decides = ['accept', 'drop', 'reject', 'jump', 'goto', 'return'];
    return words.every((word) => NEUTRAL.has(word) || decides.includes(word)) ? true : undefined;
  }
  const { op, left, right } = match;
  const equal = isEqual(asObject(left) ?? {}, right, packet);
  if (equal === undefined) return undefined;
  return op === '!=' ? !equal : op === '==' || op === 'in' ? equal : undefined;
}

function isEqual(left: Json, right: unknown, packet: Packet): boolean | undefined {
  const { isQuery, protocol, address, port } = packet;
  const meta = asObject(left['meta'])?.['key'];
  if (meta === 'l4proto') return isAmong(right, (value) => value === protocol);
  // Packets of pods arrive through other interfaces, with unknown names.
  if (meta === (isQuery ? 'iifname' : 'oifname')) return right === 'lo' ? false : undefined;
  if (asObject(left['ct'])?.['key'] === 'state') return isAmong(right, (value) => value === 'untracked');
  const payload = asObject(left['payload']);
  const [place, end] = isQuery ? ['daddr', 'dport'] : ['saddr', 'sport'];
  if (payload === undefined) return undefined;
  if (payload['field'] === end)
    return payload['protocol'] === protocol || payload['protocol'] === 'th'
      ? isAmong(right, (value) => isPort(value, port))
      : false;
  if (payload['field'] === place) return isAmong(right, (value) => isInNetwork(value, address));
  if (payload['field'] === 'protocol' || payload['field'] === 'nexthdr')
    return isAmong(right, (value) => value === protocol);
  return undefined;
}

/** A value, or a set of them. */
function isAmong(right: unknown, isOne: (value: unknown) => boolean | undefined): boolean | undefined {
  const set = asObject(right)?.['set'];
  const values: readonly unknown[] = Array.isArray(right) ? right : Array.isArray(set) ? set : [right];
  const all = values.map(isOne);
  if (all.includes(true)) return true;
  return all.includes(undefined) ? undefined : false;
}

function isPort(value: unknown, port: number): boolean | undefined {
  if (typeof value === 'number') return value === port;
  const range = asObject(value)?.['range'];
  if (!Array.isArray(range)) return undefined;
  const [min, max]: readonly unknown[] = range;
  return typeof min === 'number' && typeof max === 'number' ? port >= min && port <= max : undefined;
}

function isInNetwork(value: unknown, address: string): boolean | undefined {
  if (typeof value === 'string') return isIP(value) === 0 ? undefined : value === address;
  const { addr, len } = asObject(asObject(value)?.['prefix']) ?? {};
  const range = parseAddressRange(`${addr}/${len}`);
  return range && holdsAddress(range, address);
}

function parseChains(text: string, { skipsIptables }: NftOptions): Chains {
  const root = asObject(JSON.parse(text))?.['nftables'];
  const items = (Array.isArray(root) ? (root as readonly unknown[]) : []).map(asObject);
  const chains = new Map<string, NftChain>();
  for (const item of items) {
    const chain = asObject(item?.['chain']);
    if (chain === undefined) continue;
    const name = `${chain['family']} ${chain['table']} ${chain['name']}`;
    if (skipsIptables && TABLES_OF_IPTABLES.test(name)) continue;
    const { hook, policy } = chain;
    chains.set(name, {
      name,
      hook: typeof hook === 'string' ? hook : undefined,
      dropsByDefault: policy === 'drop',
      rules: [],
    });
  }
  for (const item of items) {
    const rule = asObject(item?.['rule']);
    const expressions = rule?.['expr'];
    if (rule === undefined || !Array.isArray(expressions)) continue;
    const chain = chains.get(`${rule['family']} ${rule['table']} ${rule['chain']}`);
    const all = (expressions as readonly unknown[]).map(asObject);
    chain?.rules.push({ expressions: all.filter((each) => each !== undefined) });
  }
  return chains;
}

const toTableName = ({ name }: NftChain): string => name.split(' ').slice(0, 2).join(' ');

function asObject(value: unknown): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
}
