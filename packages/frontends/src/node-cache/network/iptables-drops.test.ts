import { describe, expect, it } from 'vitest';
import { findDrop, isUntracked } from './iptables-drops.ts';

const ENDPOINTS = { addresses: ['169.254.20.10', '10.96.0.10'], dnsPort: 53, healthPort: 8080 };

/** Rules as `iptables-save -t filter` prints them. */
function save(rules: readonly string[], policies: Readonly<Record<string, string>> = {}): string {
  const chains = ['INPUT', 'FORWARD', 'OUTPUT'].map(
    (chain) => `:${chain} ${policies[chain] ?? 'ACCEPT'} [0:0]`,
  );
  return ['# Generated', '*filter', ...chains, ...rules, 'COMMIT', ''].join('\n');
}

describe('rules that may drop a query of a pod, or its answer', () => {
  it.each([
    ['-A INPUT -j DROP'],
    ['-A INPUT -j REJECT --reject-with icmp-port-unreachable'],
    ['-A INPUT -p udp -m udp --dport 53 -j DROP'],
    ['-A INPUT -p tcp -m multiport --dports 22,50:60 -j DROP'],
    ['-A INPUT -d 10.96.0.0/12 -j DROP'],
    ['-A INPUT -d 169.254.0.0/255.255.0.255 -j DROP'],
    ['-A INPUT ! -d 10.0.0.1/32 -j DROP'],
    ['-A INPUT ! -i lo -j DROP'],
    ['-A INPUT -i cali+ -j DROP'],
    ['-A INPUT -m conntrack ! --ctstate RELATED,ESTABLISHED -j DROP'],
    ['-A INPUT -m conntrack --ctstate NEW,UNTRACKED -j DROP'],
    ['-A INPUT -m comment --comment "not from -i lo -p icmp" -j DROP'],
    ['-A OUTPUT ! -o lo -j DROP'],
    ['-A OUTPUT -p udp -m udp --sport 53 -j REJECT --reject-with icmp-port-unreachable'],
  ])('%s', (rule) => {
    expect(findDrop(save([rule]), ENDPOINTS)).toBe(rule);
  });

  it.each(['INPUT', 'OUTPUT'])('are those of a policy: %s', (chain) => {
    expect(findDrop(save([], { [chain]: 'DROP' }), ENDPOINTS)).toBe(`-P ${chain} DROP`);
  });

  it('are found in other chains, whatever leads there', () => {
    const last = '-A LAST -j DROP';
    const rules = ['-A INPUT -g FIRST', '-A FIRST -m mark --mark 0x1 -j LAST', last];
    expect(findDrop(save(rules), ENDPOINTS)).toBe(last);
  });
});

describe('rules that drop no query of a pod, nor its answer', () => {
  it.each([
    ['-A FORWARD -j DROP'],
    ['-A INPUT -i lo -j DROP'],
    ['-A INPUT -p icmp -j DROP'],
    ['-A INPUT ! -p udp -p tcp --dport 22 -j DROP'],
    ['-A INPUT -p udp -m udp --dport 5353 -j DROP'],
    ['-A INPUT -p tcp -m multiport --dports 22,80:443 -j DROP'],
    ['-A INPUT -d 10.0.0.1/32 -j DROP'],
    ['-A INPUT -d fd00::/8 -j DROP'],
    ['-A INPUT -m conntrack --ctstate INVALID -j DROP'],
    ['-A INPUT -m conntrack --ctstate NEW -j DROP'],
    ['-A INPUT -m addrtype --dst-type BROADCAST -j DROP'],
    ['-A INPUT -j LOG --log-prefix "-j DROP"'],
    ['-A INPUT -j NOWHERE'],
    ['-A OUTPUT -o lo -j DROP'],
    ['-A OUTPUT -p udp -m udp --sport 123 -j DROP'],
  ])('%s', (rule) => {
    expect(findDrop(save([rule]), ENDPOINTS)).toBeUndefined();
  });

  it('are those of the kubelet and of kube-proxy', () => {
    const rules = [
      '-A INPUT -m conntrack --ctstate NEW -m comment --comment "kubernetes load balancer firewall" -j KUBE-PROXY-FIREWALL',
      '-A INPUT -j KUBE-FIREWALL',
      '-A OUTPUT -m conntrack --ctstate NEW -m comment --comment "kubernetes service portals" -j KUBE-SERVICES',
      '-A OUTPUT -j KUBE-FIREWALL',
      '-A KUBE-FIREWALL -m mark --mark 0x8000/0x8000 -j DROP',
      '-A KUBE-FIREWALL ! -s 127.0.0.0/8 -d 127.0.0.0/8 -m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP',
      '-A KUBE-PROXY-FIREWALL -j DROP',
      '-A KUBE-SERVICES -d 10.96.0.10/32 -p udp -m udp --dport 53 -j REJECT --reject-with icmp-port-unreachable',
    ];
    expect(findDrop(save(rules), ENDPOINTS)).toBeUndefined();
  });

  it('end, where chains lead to each other', () => {
    expect(findDrop(save(['-A INPUT -j A', '-A A -j B', '-A B -j A']), ENDPOINTS)).toBeUndefined();
  });
});

it('rules of IPv6 are read alike', () => {
  const endpoints = { ...ENDPOINTS, addresses: ['fd00::10'] };
  expect(findDrop(save(['-A INPUT -d fd00::/8 -j DROP']), endpoints)).toBe('-A INPUT -d fd00::/8 -j DROP');
  expect(findDrop(save(['-A INPUT -d fe80::/10 -j DROP']), endpoints)).toBeUndefined();
});

describe('an ACCEPT before a drop', () => {
  const ours = [
    '-A INPUT -d 169.254.20.10/32 -p udp -m udp --dport 53 -m comment --comment "DNS cache" -j ACCEPT',
    '-A INPUT -d 169.254.20.10/32 -p tcp -m tcp --dport 53 -j ACCEPT',
  ];
  const one = { addresses: ['169.254.20.10'], dnsPort: 53 };
  const find = (rules: readonly string[], policies = {}) =>
    findDrop(save(rules, policies), one, { heedsAccepts: true });

  it('saves packets that it certainly matches', () => {
    expect(find([...ours, '-A INPUT -j DROP'], { INPUT: 'DROP' })).toBeUndefined();
    expect(
      find(['-A INPUT -j OURS', ...ours.map((rule) => rule.replace('INPUT', 'OURS'))], { INPUT: 'DROP' }),
    ).toBe(undefined);
    expect(findDrop(save([...ours, '-A INPUT -j DROP']), one)).toBe('-A INPUT -j DROP');
  });

  it('saves no others', () => {
    const [udp = ''] = ours;
    expect(find([udp, '-A INPUT -j DROP'])).toBe('-A INPUT -j DROP');
    expect(find([udp], { INPUT: 'DROP' })).toBe('-P INPUT DROP');
    expect(find(['-A INPUT -m mark --mark 0x1 -j ACCEPT', '-A INPUT -j DROP'])).toBe('-A INPUT -j DROP');
    expect(
      find(['-A INPUT -s 10.0.0.0/8 -j OURS', ...ours.map((rule) => rule.replace('INPUT', 'OURS'))], {
        INPUT: 'DROP',
      }),
    ).toBe('-P INPUT DROP');
  });
});

it('queries are not tracked by NOTRACK, or by CT with --notrack', () => {
  const raw = (target: string, address = '169.254.20.10') =>
    `*raw\n:PREROUTING ACCEPT [0:0]\n-A PREROUTING -d ${address}/32 -p udp -m udp --dport 53 ${target}\nCOMMIT\n`;
  expect(isUntracked(raw('-j NOTRACK'), '169.254.20.10', 53)).toBe(true);
  expect(isUntracked(raw('-j CT --notrack'), '169.254.20.10', 53)).toBe(true);
  expect(isUntracked(raw('-j CT --zone 1'), '169.254.20.10', 53)).toBe(false);
  expect(isUntracked(raw('-j NOTRACK', '10.0.0.1'), '169.254.20.10', 53)).toBe(false);
});
