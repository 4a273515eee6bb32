import { createSocket } from 'node:dgram';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { ProgramError } from '@portolan/kernel/base/run-program.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseConntrackCounters, parseUdp6Counters, parseUdpCounters } from './kernel-counters.ts';
import { findLocalListeners } from './local-listeners.ts';
import { isNameserverAnswering } from './nameserver-probe.ts';
import { readNodeEvidence } from './read-node-evidence.ts';

/** Of Linux 4.19 and 6.1: names differ between releases. */
const CONNTRACK = `entries  searched found new invalid ignore delete delete_list insert insert_failed drop early_drop icmp_error  expect_new expect_create expect_delete search_restart
0000001f  00000000 00000003 00000000 00000001 000000a0 00000000 00000000 00000000 0000000a 00000000 00000002 00000000  00000000 00000000 00000000 00000000
0000001f  00000000 00000003 00000000 00000001 000000a0 00000000 00000000 00000000 00000010 00000005 00000000 00000000  00000000 00000000 00000000 00000000
`;
const SNMP = `Ip: Forwarding DefaultTTL
Ip: 1 64
Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors IgnoredMulti MemErrors
Udp: 5000 1 50 5000 30 2 8 0 0
UdpLite: InDatagrams NoPorts
UdpLite: 9 9
`;
const SNMP6 = `Ip6InReceives                   	7
Udp6InDatagrams                 	900
Udp6InErrors                    	5
Udp6InCsumErrors                	5
UdpLite6InDatagrams             	0
`;
const TRIE = `Local:
  +-- 0.0.0.0/0 3 0 5
     |-- 127.0.0.1
        /32 host LOCAL
     |-- 169.254.0.0
        /16 link UNICAST
     |-- 169.254.20.10
        /32 host LOCAL
     |-- 169.254.7.7
        /32 host LOCAL
`;
const SOCKETS = `   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops
  251: 0A14FEA9:0035 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 21 2 0000000000000000 0
  252: 0100007F:14E9 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 22 2 0000000000000000 0
`;

describe('counters of the kernel', () => {
  it('of connections are summed over processors', () => {
    const counters = parseConntrackCounters(CONNTRACK);
    expect(['insert_failed', 'drop', 'early_drop'].map((name) => counters.get(name))).toEqual([26, 5, 2]);
  });

  it('of UDP are those of its own row', () => {
    expect(parseUdpCounters(SNMP)).toEqual(
      new Map(
        Object.entries({
          InDatagrams: 5000,
          NoPorts: 1,
          InErrors: 50,
          OutDatagrams: 5000,
          RcvbufErrors: 30,
          SndbufErrors: 2,
          InCsumErrors: 8,
          IgnoredMulti: 0,
          MemErrors: 0,
        }),
      ),
    );
    expect([...parseUdp6Counters(SNMP6)]).toEqual([
      ['InDatagrams', 900],
      ['InErrors', 5],
      ['InCsumErrors', 5],
    ]);
  });

  it.each([parseConntrackCounters, parseUdpCounters, parseUdp6Counters])(
    'do not exist in other texts: %#',
    (parse) => {
      expect([...parse('nonsense\n')]).toEqual([]);
    },
  );
});

describe("the address of a node's DNS cache", () => {
  it('is the customary one, served or not, or a link-local one that is served', () => {
    expect(findLocalListeners(TRIE, SOCKETS)).toEqual([{ address: '169.254.20.10', isServed: true }]);
    expect(findLocalListeners(TRIE, '')).toEqual([{ address: '169.254.20.10', isServed: false }]);
    const other = SOCKETS.replace('0A14FEA9', '0707FEA9');
    expect(findLocalListeners(TRIE, other)).toEqual([
      { address: '169.254.20.10', isServed: false },
      { address: '169.254.7.7', isServed: true },
    ]);
    const all = SOCKETS.replace('0A14FEA9', '00000000');
    expect(findLocalListeners(TRIE, all)).toEqual([{ address: '169.254.20.10', isServed: true }]);
  });
});

const noPrograms = async () => {
  throw new ProgramError('not installed');
};

describe('the evidence of a node', () => {
  it('is read below its root', async () => {
    const folder = await makeTemporaryFolder();
    const files = {
      'proc/net/stat/nf_conntrack': CONNTRACK,
      'proc/sys/net/netfilter/nf_conntrack_count': '31\n',
      'proc/sys/net/netfilter/nf_conntrack_max': '262144\n',
      'proc/net/snmp': SNMP,
      'proc/net/snmp6': SNMP6,
      'proc/net/fib_trie': TRIE,
      'proc/net/udp': SOCKETS,
      'var/lib/kubelet/config.yaml': 'kind: KubeletConfiguration\nresolvConf: "/run/resolv.conf"\n',
      'run/resolv.conf': 'search a.test b.test\nnameserver 10.0.0.2\nnameserver dns.test\n',
    };
    for (const [path, text] of Object.entries(files)) await folder.write(path, text);
    const reading = { root: folder.path, watch: 0, asks: false, run: noPrograms, clock: systemClock };
    expect(await readNodeEvidence(reading)).toEqual({
      conntrack: {
        entries: 31,
        maxEntries: 262_144,
        insertFailed: { total: 26, recent: 0 },
        dropped: { total: 5, recent: 0 },
        earlyDropped: { total: 2, recent: 0 },
      },
      udp: {
        received: { total: 5900, recent: 0 },
        bufferErrors: { total: 32, recent: 0 },
        checksumErrors: { total: 13, recent: 0 },
        refused: { total: 12, recent: 0 },
      },
      listeners: [{ address: '169.254.20.10', isServed: true }],
      rules: undefined,
      resolvConf: {
        path: '/run/resolv.conf',
        nameservers: ['10.0.0.2'],
        search: ['a.test', 'b.test'],
        problems: ['line 3: not an IP address: "dns.test"'],
        localAddresses: ['169.254.20.10'],
      },
      nameservers: undefined,
    });
  });

  it('is undefined where nothing can be read', async () => {
    const { path: root } = await makeTemporaryFolder();
    const reading = { root, watch: 0, asks: true, run: noPrograms, clock: systemClock };
    expect(Object.values(await readNodeEvidence(reading)).every((part) => part === undefined)).toBe(true);
  });
});

it('a name server answers if it replies to the question for the root', async () => {
  const socket = createSocket('udp4', (message, { port, address }) => {
    expect(message.subarray(2)).toEqual(Buffer.from('01000001000000000000' + '0000020001', 'hex'));
    socket.send(message, port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  const { port } = socket.address();
  expect(await isNameserverAnswering('127.0.0.1', port, systemClock)).toBe(true);
  const closed = new Promise<void>((resolve) => socket.close(resolve));
  onTestFinished(() => closed);
  await closed;
  expect(await isNameserverAnswering('127.0.0.1', port, systemClock)).toBe(false);
});
