/** Each check of a node, with a sick and a healthy node. */
import { describe, expect, it } from 'vitest';
import { runChecks } from '../finding.ts';
import type { NodeEvidence } from '../node-evidence.ts';
import { REASON_TEXTS } from '../reason-texts.ts';
import { NODE_CHECKS } from './node-checks.ts';

const NOTHING = { total: 0, recent: 0 };
const CONNTRACK = {
  entries: 1_000,
  maxEntries: 262_144,
  insertFailed: NOTHING,
  dropped: NOTHING,
  earlyDropped: NOTHING,
};
const UDP = {
  received: { total: 10_000_000, recent: 500 },
  // Long ago, and few among so many.
  bufferErrors: { total: 999, recent: 0 },
  checksumErrors: NOTHING,
  refused: NOTHING,
};
const RESOLV_CONF = {
  path: '/etc/resolv.conf',
  nameservers: ['10.0.0.2', '10.0.0.3'],
  problems: [],
  search: ['corp.example'],
  localAddresses: ['169.254.20.10'],
};

const HEALTHY: NodeEvidence = {
  conntrack: CONNTRACK,
  udp: UDP,
  listeners: [{ address: '169.254.20.10', isServed: true }],
  rules: { drops: [], tracked: [] },
  resolvConf: RESOLV_CONF,
  nameservers: [
    { server: '10.0.0.2', isAnswering: true },
    { server: '10.0.0.3', isAnswering: true },
  ],
};

const long = (count: number) => Array.from({ length: count }, (_, index) => `d${index}.example`);

const SICK: readonly (readonly [string, Partial<NodeEvidence>, string])[] = [
  [
    'conntrack-full',
    { conntrack: { ...CONNTRACK, entries: 236_000 } },
    'problem conntrack table: the table of connections is full: 236000 of 262144 entries',
  ],
  [
    'conntrack-full',
    { conntrack: { ...CONNTRACK, dropped: { total: 12, recent: 3 } } },
    'problem conntrack table: packets were dropped because the table of connections was full: 3 while it was watched, 12 since the node started',
  ],
  [
    'conntrack-full',
    { conntrack: { ...CONNTRACK, earlyDropped: { total: 120, recent: 0 } } },
    'risk conntrack table: connections were forgotten because the table of connections was full: 120 since the node started, none while it was watched',
  ],
  [
    'conntrack-race',
    { conntrack: { ...CONNTRACK, insertFailed: { total: 100, recent: 0 } } },
    'risk conntrack table: packets were dropped because an equal connection was entered at the same time: 100 since the node started, none while it was watched',
  ],
  [
    'udp-buffer-full',
    { udp: { ...UDP, bufferErrors: { total: 1_000, recent: 0 } } },
    'risk UDP: datagrams were dropped because the buffer of a socket was full: 1000 since the node started, none while it was watched',
  ],
  [
    'udp-checksum-errors',
    { udp: { ...UDP, checksumErrors: { total: 1, recent: 1 } } },
    'problem UDP: datagrams came with a wrong checksum and were dropped: 1 while it was watched, 1 since the node started',
  ],
  [
    'udp-receive-errors',
    { udp: { ...UDP, refused: { total: 1, recent: 1 } } },
    'problem UDP: datagrams were dropped by the filter of a socket or by a policy of IPsec: 1 while it was watched, 1 since the node started',
  ],
  [
    'node-local-unserved',
    { listeners: [{ address: '169.254.20.10', isServed: false }] },
    'problem 169.254.20.10: the node has the address 169.254.20.10 of its DNS cache, and no program listens on port 53 of it',
  ],
  [
    'node-firewall',
    { rules: { drops: ['-A INPUT -j DROP'], tracked: [] } },
    'problem -A INPUT -j DROP: a rule of the packet filter may drop queries to the DNS cache of the node, or its answers: -A INPUT -j DROP',
  ],
  [
    'notrack-missing',
    { rules: { drops: [], tracked: ['169.254.20.10'] } },
    'risk 169.254.20.10: no rule with NOTRACK matches queries to 169.254.20.10: each takes a place in the table of connections',
  ],
  [
    'node-resolv-conf',
    { resolvConf: { ...RESOLV_CONF, nameservers: [] } },
    'problem /etc/resolv.conf: /etc/resolv.conf has no name server: pods with dnsPolicy Default, such as DNS servers, can ask nobody',
  ],
  ...['127.0.0.53', '::1', '169.254.20.10'].map(
    (server) =>
      [
        'node-resolv-conf',
        { resolvConf: { ...RESOLV_CONF, nameservers: [server] } },
        `problem /etc/resolv.conf: /etc/resolv.conf names ${server}, which in a pod is the pod itself, or leads back to the DNS server: queries go in a circle`,
      ] as const,
  ),
  [
    'node-resolv-conf',
    { resolvConf: { ...RESOLV_CONF, nameservers: ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4'] } },
    'risk /etc/resolv.conf: /etc/resolv.conf has 4 name servers: pods ask only the first 3',
  ],
  [
    'node-resolv-conf',
    { resolvConf: { ...RESOLV_CONF, problems: ['line 2: not an IP address: "dns.example"'] } },
    'risk /etc/resolv.conf: /etc/resolv.conf has a name server that cannot be used: line 2: not an IP address: "dns.example"',
  ],
  [
    'node-resolv-conf',
    { resolvConf: { ...RESOLV_CONF, search: long(7) } },
    'risk /etc/resolv.conf: the search list of /etc/resolv.conf has 7 domains and 76 characters: pods try each of them for each name outside, and old ones cut the list',
  ],
  [
    'node-resolv-conf',
    { resolvConf: { ...RESOLV_CONF, search: ['x'.repeat(257)] } },
    'risk /etc/resolv.conf: the search list of /etc/resolv.conf has 1 domains and 257 characters: pods try each of them for each name outside, and old ones cut the list',
  ],
  [
    'node-nameserver-silent',
    {
      nameservers: [
        { server: '10.0.0.2', isAnswering: false },
        { server: '10.0.0.3', isAnswering: true },
      ],
    },
    'risk 10.0.0.2: name server 10.0.0.2 of the node does not answer',
  ],
  [
    'node-nameserver-silent',
    { nameservers: [{ server: '10.0.0.2', isAnswering: false }] },
    'problem 10.0.0.2: name server 10.0.0.2 of the node does not answer',
  ],
];

describe('a check of a node', () => {
  it('finds nothing on a healthy one', () => {
    const { findings, checked, notChecked } = runChecks(NODE_CHECKS, HEALTHY);
    expect([findings, notChecked]).toEqual([[], []]);
    expect(checked).toEqual(NODE_CHECKS.map(({ kind }) => kind));
  });

  it.each(SICK)('%s finds what is sick: %#', (kind, changes, text) => {
    const { findings } = runChecks(NODE_CHECKS, { ...HEALTHY, ...changes });
    expect(findings.map((each) => `${each.severity} ${each.subject}: ${each.sentence}`)).toEqual([text]);
    expect(findings.map((each) => each.kind)).toEqual([kind]);
    expect(findings.flatMap(({ remedies }) => remedies).length).toBeGreaterThan(0);
  });

  it('has a sick state each, and an entry in the vocabulary', () => {
    expect(NODE_CHECKS.map(({ kind }) => kind).sort()).toEqual(
      [...new Set(SICK.map(([kind]) => kind))].sort(),
    );
    for (const { kind } of NODE_CHECKS) expect(REASON_TEXTS[kind].remedy).toMatch(/\.$/);
  });

  it('that lacks its evidence is named', () => {
    const { notChecked } = runChecks(NODE_CHECKS, { ...HEALTHY, rules: undefined, nameservers: undefined });
    expect(notChecked).toEqual([
      { kind: 'node-firewall', needs: ['rules'] },
      { kind: 'notrack-missing', needs: ['rules'] },
      { kind: 'node-nameserver-silent', needs: ['nameservers'] },
    ]);
  });
});
