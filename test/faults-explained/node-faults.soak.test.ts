/**
 * Faults of a node, made in a network namespace with a DNS cache: one command names the right cause of each.
 *
 * The operator of this test knows only that names do not resolve on one node. The table of connections and wrong checksums cannot be
 * spoiled in a namespace, so the kernel's texts are given there.
 */
import { join } from 'node:path';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { describeOnNode, mayMakeNodes, Node } from '../node-cache/namespace.ts';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';
import { examineNode, type NamedCause } from './operator.ts';

const ADDRESS = '169.254.20.10';
const HEALTHY_FILE = 'search corp.example\nnameserver 10.0.0.2\n';

let node: Node | undefined;

beforeEach(async () => {
  if (mayMakeNodes) node = await Node.create();
});

afterEach(async () => {
  await endAllPrograms();
  node?.end();
});

function here(): Node {
  if (node === undefined) throw new Error('no node yet');
  return node;
}

/** Gives the node a cache with its rules. */
async function startCache(flags: readonly string[] = ['--rules=iptables']): Promise<void> {
  await here().run('ip', 'addr', 'add', `${ADDRESS}/32`, 'dev', 'lo');
  const folder = await makeTemporaryFolder();
  const template = '.:53 {\n    bind __PILLAR__LOCAL__DNS__\n    whoami\n}\n';
  const base = await folder.write('Corefile.base', template);
  const files = ['-conf', join(folder.path, 'Corefile'), '-basecorefile', base];
  const cache = runPortolan(
    [
      'node-cache',
      '-localip',
      ADDRESS,
      '-setupinterface=false',
      '-health-port',
      '36080',
      ...files,
      '-metrics-listen-address',
      '127.0.0.1:36353',
      ...flags,
    ],
    { through: here().through },
  );
  await expect.poll(() => cache.output + cache.errors).toContain('CoreDNS-');
}

/** Waits for the rules of the cache, which it sets once it answers. */
async function untilRules(): Promise<void> {
  await expect.poll(async () => (await here().iptables()).length).toBe(12);
}

/** Examines the node with this resolv.conf. */
async function examineWith(resolvConf: string, words: readonly string[] = []): Promise<NamedCause> {
  const file = await (await makeTemporaryFolder()).write('resolv.conf', resolvConf);
  const mount = 'mount --bind "$0" /etc/resolv.conf && exec "$@"';
  const through = [...here().through, 'unshare', '--mount', 'sh', '-c', mount, file];
  return await examineNode(through, ['--node-root=/', '--watch=0s', ...words]);
}

/** Examines a node with these texts of its kernel. */
async function examineTexts(files: Readonly<Record<string, string>>): Promise<NamedCause> {
  const folder = await makeTemporaryFolder();
  for (const [name, text] of Object.entries(files)) await folder.write(name, text);
  return await examineNode(here().through, [`--node-root=${folder.path}`, '--watch=0s']);
}

const counters = (insertFailed: string) => ({
  'proc/net/stat/nf_conntrack': `entries found insert insert_failed drop early_drop\n00000009 00000000 00000000 ${insertFailed} 00000000 00000000\n`,
});
const table = (count: number) => ({
  'proc/sys/net/netfilter/nf_conntrack_count': `${count}\n`,
  'proc/sys/net/netfilter/nf_conntrack_max': '1000\n',
});
const datagrams = (wrong: number) => ({
  'proc/net/snmp': `Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors\nUdp: 9000 0 ${wrong} 9000 0 0 ${wrong}\n`,
});

/** Sends more datagrams than a socket takes before its program reads them. */
const FILL_BUFFER = `
const { createSocket } = require('node:dgram');
const full = createSocket({ type: 'udp4', recvBufferSize: 4096 });
const sender = createSocket('udp4');
full.bind(36099, '127.0.0.1', () => sender.connect(36099, '127.0.0.1', () => {
  for (let count = 0; count < 500; count++) sender.send(Buffer.alloc(512));
  setImmediate(() => { full.close(); sender.close(); });
}));
`;

interface Fault {
  readonly fault: string;
  readonly cause: string;
  readonly sentence: RegExp;
  find(): Promise<NamedCause>;
}

const FAULTS: readonly Fault[] = [
  {
    fault: 'a firewall of iptables that drops',
    cause: 'node-firewall',
    sentence: /-A INPUT -p udp -j DROP$/,
    find: async () => {
      await startCache();
      await untilRules();
      await here().run('iptables', '-I', 'INPUT', '1', '-p', 'udp', '-j', 'DROP');
      return await examineWith(HEALTHY_FILE);
    },
  },
  {
    fault: 'a firewall of nftables that drops',
    cause: 'node-firewall',
    sentence: /nft: policy drop of chain inet firewall in$/,
    find: async () => {
      await startCache();
      await untilRules();
      const chain = 'chain in { type filter hook input priority 10; policy drop; iifname "lo" accept; }';
      await here().run('nft', `table inet firewall { ${chain}; }`);
      return await examineWith(HEALTHY_FILE);
    },
  },
  {
    fault: 'rules of the cache that are gone',
    cause: 'notrack-missing',
    sentence: /^no rule with NOTRACK matches queries to 169\.254\.20\.10/,
    find: async () => {
      await startCache(['-setupiptables=false']);
      return await examineWith(HEALTHY_FILE);
    },
  },
  {
    fault: 'a cache that is gone while pods still ask it',
    cause: 'node-local-unserved',
    sentence: /^the node has the address 169\.254\.20\.10 of its DNS cache, and no program listens/,
    find: async () => {
      await here().run('ip', 'addr', 'add', `${ADDRESS}/32`, 'dev', 'lo');
      return await examineWith(HEALTHY_FILE);
    },
  },
  {
    fault: 'a stub resolver that pods get',
    cause: 'node-resolv-conf',
    sentence: /^\/etc\/resolv\.conf names 127\.0\.0\.53, .*queries go in a circle$/,
    find: () => examineWith('nameserver 127.0.0.53\nsearch corp.example\n'),
  },
  {
    fault: 'name servers that the node does not reach',
    cause: 'node-nameserver-silent',
    sentence: /^name server 192\.0\.2\.1 of the node does not answer$/,
    find: () => examineWith('nameserver 192.0.2.1\n', ['--ask']),
  },
  {
    fault: 'a socket whose buffer is full',
    cause: 'udp-buffer-full',
    sentence: /^datagrams were dropped because the buffer of a socket was full: \d{3} since the node started/,
    find: async () => {
      await here().run(process.execPath, '-e', FILL_BUFFER);
      return await examineWith(HEALTHY_FILE);
    },
  },
  {
    fault: 'a table of connections that is full',
    cause: 'conntrack-full',
    sentence: /^the table of connections is full: 990 of 1000 entries$/,
    find: () => examineTexts({ ...counters('00000000'), ...table(990) }),
  },
  {
    fault: 'two queries that race for one connection',
    cause: 'conntrack-race',
    sentence: /^packets were dropped because an equal connection was entered at the same time: 510 since/,
    find: () => examineTexts({ ...counters('000001fe'), ...table(9) }),
  },
  {
    fault: 'an overlay that spoils checksums',
    cause: 'udp-checksum-errors',
    sentence: /^datagrams came with a wrong checksum and were dropped: 700 since/,
    find: () => examineTexts(datagrams(700)),
  },
];

describeOnNode('on a node, one command', () => {
  it('finds nothing if the node is well', async () => {
    await startCache();
    await untilRules();
    const { cause, text } = await examineWith(HEALTHY_FILE);
    expect(cause, text).toBeUndefined();
    expect(text).toMatch(/^ok +9 checks: .*\nnot checked {2}node-nameserver-silent: needs nameservers\n$/);
  });

  it.each(FAULTS.map((fault) => [fault.fault, fault] as const))(
    'names %s',
    async (_, { cause, sentence, find }) => {
      const { text, ...named } = await find();
      expect(named, text).toEqual({ cause, sentence: expect.stringMatching(sentence) });
    },
  );
});

it('says that it could not look', async () => {
  const { path } = await makeTemporaryFolder();
  const program = runPortolan(['doctor', '--on-node', '--watch=0s', `--node-root=${path}`]);
  expect(await program.exit).toMatchObject({ code: 3 });
  expect(program.errors).toMatch(/^portolan doctor: nothing could be read of the node: .*--node-root/);
});
