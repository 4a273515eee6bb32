import { describe, expect, it } from 'vitest';
import { findNftDrops, isUntrackedByNft } from './nft-drops.ts';

const CACHE = { addresses: ['169.254.20.10'], dnsPort: 53 };
const PORT = { match: { op: '==', left: { payload: { protocol: 'udp', field: 'dport' } }, right: 53 } };
const HERE = {
  match: { op: '==', left: { payload: { protocol: 'ip', field: 'daddr' } }, right: '169.254.20.10' },
};
const DROP = { drop: null };
const ACCEPT = { accept: null };
const TCP = { match: { op: '==', left: { meta: { key: 'l4proto' } }, right: 'tcp' } };
const ANSWERS = [
  { match: { op: '==', left: { payload: { protocol: 'ip', field: 'saddr' } }, right: '169.254.20.10' } },
];

interface Setting {
  readonly family?: string;
  readonly table?: string;
  readonly hook?: string;
  readonly policy?: string;
}

const makeChain = ({ family = 'inet', table = 'fw', hook = 'input', policy = 'accept' }: Setting) => ({
  chain: { family, table, name: 'c', type: 'filter', hook, prio: 0, policy },
});

/** What nft prints of one chain. */
function ruleset(
  rules: readonly (readonly object[])[],
  setting: Setting = {},
  further: readonly object[] = [],
) {
  const { family = 'inet', table = 'fw' } = setting;
  const items = rules.map((expr) => ({ rule: { family, table, chain: 'c', expr } }));
  const all = [{ metainfo: { version: '1.0.6' } }, { table: { family, name: table } }, makeChain(setting)];
  return JSON.stringify({ nftables: [...all, ...further, ...items] });
}

const find = (text: string) => findNftDrops(text, CACHE, { skipsIptables: true });
const payload = (protocol: string, field: string, right: unknown, op = '==') => ({
  match: { op, left: { payload: { protocol, field } }, right },
});

describe('rules of nftables that may drop a query of a pod, or its answer', () => {
  it.each([
    [[PORT, DROP]],
    [[PORT, { counter: { packets: 0, bytes: 0 } }, DROP]],
    [[HERE, DROP]],
    [[payload('udp', 'dport', { set: [22, { range: [50, 60] }] }), DROP]],
    [[payload('ip', 'daddr', { prefix: { addr: '169.254.0.0', len: 16 } }), DROP]],
    [[payload('ip', 'daddr', '10.0.0.1', '!='), DROP]],
    [[{ match: { op: '==', left: { meta: { key: 'iifname' } }, right: 'eth0' } }, DROP]],
    [[{ match: { op: '!=', left: { meta: { key: 'iifname' } }, right: 'lo' } }, DROP]],
    [[{ xt: { type: 'match', name: 'u32' } }, DROP]],
    [[payload('th', 'dport', 53), DROP]],
  ])('%j', (rule) => {
    expect(find(ruleset([rule]))).toEqual(['nft: drop in chain inet fw c']);
  });

  it('are those that reject, also in a chain that one jumps to', () => {
    const other = { chain: { family: 'inet', table: 'fw', name: 'other' } };
    const rule = { rule: { family: 'inet', table: 'fw', chain: 'other', expr: [TCP, { reject: {} }] } };
    const text = ruleset([[PORT, { jump: { target: 'c' } }], [{ jump: { target: 'other' } }]], {}, [
      other,
      rule,
    ]);
    expect(find(text)).toEqual(['nft: reject in chain inet fw other']);
  });

  it.each([
    ['input', [PORT, ACCEPT]],
    ['output', []],
    ['prerouting', []],
  ])('are a policy, if not all packets are accepted: %s', (hook, rule) => {
    expect(find(ruleset([rule], { hook, policy: 'drop' }))).toEqual(['nft: policy drop of chain inet fw c']);
  });
});

describe('rules of nftables that drop no query of a pod, nor its answer', () => {
  it.each([
    [[payload('udp', 'dport', 5353), DROP]],
    [[payload('ip', 'daddr', '10.0.0.1'), DROP]],
    [[payload('ip', 'protocol', 'icmp'), DROP]],
    [[{ match: { op: '==', left: { meta: { key: 'iifname' } }, right: 'lo' } }, DROP]],
    [[{ match: { op: 'in', left: { ct: { key: 'state' } }, right: ['invalid'] } }, DROP]],
    [[PORT, ACCEPT]],
  ])('%j', (rule) => {
    expect(find(ruleset([rule]))).toEqual([]);
  });

  it('are those of other hooks and families, and of iptables', () => {
    for (const setting of [{ hook: 'forward' }, { family: 'ip6' }, { family: 'ip', table: 'filter' }])
      expect(find(ruleset([[DROP]], setting))).toEqual([]);
    const text = ruleset([[DROP]], { family: 'ip', table: 'filter' });
    expect(findNftDrops(text, CACHE, { skipsIptables: false })).toEqual(['nft: drop in chain ip filter c']);
  });

  it('stand behind one that accepts', () => {
    expect(find(ruleset([[HERE, ACCEPT], [DROP]], { policy: 'drop' }))).toEqual([]);
    const answers = ruleset([[...ANSWERS, ACCEPT]], { hook: 'output', policy: 'drop' });
    expect(find(answers)).toEqual([]);
    const perhaps = { match: { op: '==', left: { meta: { key: 'mark' } }, right: 1 } };
    expect(find(ruleset([[perhaps, ACCEPT], [DROP]]))).toEqual(['nft: drop in chain inet fw c']);
  });
});

it('queries are not tracked if a rule says so, before they are', () => {
  const isUntracked = (rule: readonly object[], hook = 'prerouting') =>
    isUntrackedByNft(ruleset([rule], { hook }), '169.254.20.10', 53);
  expect(isUntracked([HERE, PORT, { notrack: null }])).toBe(true);
  expect(isUntracked([HERE, PORT, { notrack: null }], 'input')).toBe(false);
  expect(isUntracked([HERE, PORT, ACCEPT])).toBe(false);
  expect(isUntracked([payload('ip', 'daddr', '10.0.0.1'), { notrack: null }])).toBe(false);
});

it('what is no ruleset has no drops', () => {
  expect(find('{}')).toEqual([]);
  expect(() => find('Error')).toThrow(SyntaxError);
});
