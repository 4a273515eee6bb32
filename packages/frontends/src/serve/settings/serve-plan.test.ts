import { describeProblem } from '@portolan/server/settings/values/problem.ts';
import { describe, expect, it } from 'vitest';
import { memorySources } from '../../dnsmasq/settings/testing/memory-sources.ts';
import type { ServeFlags } from './serve-flags.ts';
import type { ServePlan } from './serve-options.ts';
import { planFromFlags } from './serve-plan.ts';

const NO_CLIENT_RULES = {
  access: [],
  queryRate: undefined,
  responseRate: undefined,
  slip: 2,
  prefixLengths: { ipv4: 32, ipv6: 128 },
};

const machine = { cores: 2, terminal: false, environment: {} };

function readPlan(flags: ServeFlags, on = machine): ServePlan {
  const checked = planFromFlags(flags, on, memorySources());
  if (checked.kind === 'bad') throw new Error(checked.problems.map(describeProblem).join('\n'));
  return checked.value;
}

function readProblems(flags: ServeFlags): readonly string[] {
  const checked = planFromFlags(flags, machine, memorySources());
  return checked.kind === 'bad' ? checked.problems.map(describeProblem) : [];
}

describe('the defaults', () => {
  it('are those that every installer of a cluster DNS sets', () => {
    expect(readPlan({})).toEqual({
      cluster: {
        domain: 'cluster.local.',
        dialect: 'coredns',
        pods: 'insecure',
        ttl: 30,
        hasHttpsRecords: false,
        tenants: undefined,
        endpointRanges: undefined,
        objects: { kind: 'api-server', kubecfgFile: undefined, context: undefined, masterUrl: undefined },
      },
      resolver: {
        upstreams: { kind: 'resolv-file', path: '/etc/resolv.conf' },
        policy: 'sequential',
        trustsAd: false,
        mixesCase: false,
        stubDomains: [],
        hosts: [],
        cacheOctets: 16_777_216,
        cacheEntries: undefined,
        dnsmasq: undefined,
        notes: [],
      },
      listen: {
        addresses: 'all',
        port: 53,
        udpReaders: 2,
        udpCoalesce: 0,
        takeover: false,
        clients: NO_CLIENT_RULES,
      },
      identity: { hidesVersion: false, hidesHost: false, nsid: undefined },
      servesDiscovery: false,
      nftset: [],
      health: { address: undefined, port: 8081, cache: false },
      losses: { share: 50, names: 20, within: 30_000, hold: 600_000 },
      log: { level: 'info', format: 'json' },
      dynamic: { kind: 'none' },
      federations: [],
      skyDnsMetrics: undefined,
      sidecar: undefined,
      autoscaler: undefined,
      events: undefined,
      snapshotFile: undefined,
      snapshotMaxAge: 86_400_000,
      initialSyncTimeout: 60_000,
      lameduck: 5_000,
      drain: 0,
      keepsStatistics: false,
      history: { octets: 16 * 2 ** 20, file: undefined, names: 'plain' },
    });
  });

  it.each([
    [0.5, 1],
    [1, 1],
    [2, 2],
    [3.5, 3],
    [64, 16],
  ])('give %d cores %d readers', (cores, readers) => {
    expect(readPlan({}, { cores, terminal: false, environment: {} }).listen.udpReaders).toBe(readers);
  });

  it('write text where a person reads', () => {
    expect(readPlan({}, { cores: 1, terminal: true, environment: {} }).log.format).toBe('text');
  });
});

describe('values', () => {
  it('keep tenants apart', () => {
    const { cluster } = readPlan({
      tenants: 'by-namespace-label:example.com/team',
      tenantsSeenBy: '192.0.2.0/28, fd00::7',
    });
    expect(cluster.tenants).toEqual({
      label: 'example.com/team',
      seenBy: [
        { address: '192.0.2.0', prefix: 28 },
        { address: 'fd00::7', prefix: 128 },
      ],
    });
  });

  it('may be given in any usual form', () => {
    const plan = readPlan({
      domain: 'Example.ORG',
      dnsBindAddress: ['127.0.0.1,[::1]', '127.0.0.1'],
      healthzPort: '[::1]:9',
      lameduck: '1m30s',
      initialSyncTimeout: '0',
    });
    expect(plan.cluster.domain).toBe('example.org.');
    expect(plan.listen.addresses).toEqual(['127.0.0.1', '::1']);
    expect(plan.health).toEqual({ address: '::1', port: 9, cache: false });
    const clients = readPlan({
      accessControl: ['0.0.0.0/0=refuse, 10.0.0.0/8=allow', '2001:db8::1=drop'],
      queryRateLimit: '100',
      rateLimitPrefix: '24,56',
    });
    expect(clients.listen.clients).toEqual({
      access: [
        { clients: { address: '0.0.0.0', prefix: 0 }, action: 'refuse' },
        { clients: { address: '10.0.0.0', prefix: 8 }, action: 'allow' },
        { clients: { address: '2001:db8::1', prefix: 128 }, action: 'drop' },
      ],
      queryRate: 100,
      responseRate: undefined,
      slip: 2,
      prefixLengths: { ipv4: 24, ipv6: 56 },
    });
    expect(plan.lameduck).toBe(90_000);
    expect(plan.initialSyncTimeout).toBe(0);
  });

  it.each<[ServeFlags, string]>([
    [{ ttl: '3601' }, '--ttl: out of range: "3601". Give a number of seconds from 0 to 3600.'],
    [{ ttl: '-1' }, '--ttl: not a whole number: "-1". Give a number of seconds from 0 to 3600.'],
    [{ dnsPort: '0' }, '--dns-port: out of range: "0". Give a port from 1 to 65535.'],
    [{ udpCoalesce: '11ms' }, '--udp-coalesce: out of range: "11ms". Give a time from 0 to 10ms.'],
    [{ udpReaders: '32' }, '--udp-readers: out of range: "32". Give a number of threads from 1 to 31.'],
    [
      { nftset: ['/example.com/allowed'] },
      '--nftset: not a set: "allowed". Write table and set, with the family before them, as in /example.com/inet#filter#allowed. Families: ip, ip6, inet, arp, bridge, netdev.',
    ],
    [
      { nftsetClosed: true },
      '--nftset-closed: has no effect without --nftset. Leave it out, or give --nftset.',
    ],
    [{ dialect: 'bind' }, '--dialect: unknown: "bind". Give coredns or kube-dns.'],
    [{ pods: 'all' }, '--pods: unknown: "all". Give disabled, insecure or verified.'],
    [
      { lameduck: '5' },
      '--lameduck: not a duration of at most 24h: "5". Give a number and its unit, as in 5s.',
    ],
    [
      { domain: '.' },
      '--domain: the root is not a zone of a cluster: ".". Give a name such as cluster.local.',
    ],
    [{ domain: 'a..b' }, '--domain: not a domain name: "a..b". Give a name such as cluster.local.'],
    [
      { dnsBindAddress: ['localhost'] },
      '--dns-bind-address: not an IP address: "localhost". Give one such as 127.0.0.1 or ::1; names are not looked up.',
    ],
    [
      { dnsBindAddress: ['::', '::1'] },
      '--dns-bind-address: already covered by ::: "::1". Leave one of the two out.',
    ],
    ...['10.0.0.0/33=allow', '10.0.0.0/8', '10.0.0.0/8=deny', 'localhost=allow'].map(
      (text): [ServeFlags, string] => [
        { accessControl: [text] },
        `--access-control: not a prefix and an action: "${text}". Give one such as 10.0.0.0/8=allow; actions are allow, refuse and drop.`,
      ],
    ),
    [
      { endpointRanges: '10.0.0.0/8, pods, nodes' },
      '--endpoint-ranges: not a prefix: "pods". Give prefixes such as 10.244.0.0/16,fd00::/48.',
    ],
    ...['team', 'by-pod-label:team', 'by-namespace-label:'].map((tenants): [ServeFlags, string] => [
      { tenants },
      `--tenants: not a rule: "${tenants}". Give one such as by-namespace-label:team.`,
    ]),
    [
      { tenants: 'by-namespace-label:team', example: true },
      '--tenants: there is no API server with pods: "by-namespace-label:team". Leave it out.',
    ],
    [
      { tenants: 'by-namespace-label:team', tenantsSeenBy: 'pods' },
      '--tenants-seen-by: not a prefix: "pods". Give prefixes such as 192.0.2.0/28,fd00::7.',
    ],
    [
      { tenantsSeenBy: '192.0.2.7' },
      '--tenants-seen-by: has no effect without --tenants: "192.0.2.7". Leave it out, or tell tenants apart by --tenants.',
    ],
    [
      { rateLimitPrefix: '24' },
      '--rate-limit-prefix: not two numbers of bits: "24". Give bits of IPv4 and of IPv6 addresses, as in 24,56.',
    ],
    [
      { kubeMasterUrl: 'ftp://x' },
      '--kube-master-url: neither http nor https: "ftp://x". Give one such as https://10.0.0.1:6443.',
    ],
    [
      { snapshotMaxAge: '1h' },
      '--snapshot-max-age: has no effect without --snapshot: "1h". Leave it out, or name a file with --snapshot.',
    ],
    [
      { queryLogSample: '10' },
      '--query-log-sample: has no effect without --query-log: "10". Leave it out, or give --query-log.',
    ],
    [
      { queryLogZone: ['corp.example'] },
      '--query-log-zone: has no effect without --query-log: "corp.example". Leave it out, or give --query-log.',
    ],
    [
      { autoscaleNamespace: 'dns' },
      '--autoscale-namespace: has no effect without --autoscale: "dns". Leave it out, or give --autoscale.',
    ],
    [
      { domain: 'clus ter' },
      '--domain: not the name of a zone: "clus ter". Give letters, digits and dashes between dots, as in cluster.local.',
    ],
    [{ snapshot: '' }, '--snapshot: empty: "". Give the path of a file, or leave the flag out.'],
    [
      { manifests: 'm', example: true },
      '--example: given together with --manifests. Keep one: a server has one cluster.',
    ],
    [
      { manifests: 'm', context: 'c' },
      '--context: has no effect beside --manifests: "c". Leave one out: objects come from one place.',
    ],
  ])('that are wrong are refused with a remedy: %j', (flags, problem) => {
    expect(readProblems(flags)).toEqual([problem]);
  });

  it('that are wrong are all reported together', () => {
    expect(readProblems({ ttl: 'x', pods: 'y', logLevel: 'z', healthzPort: '99999' })).toHaveLength(4);
  });
});

describe('the query log', () => {
  const settings = { format: 'json', sample: 1, zones: [], rcodes: [], clients: [] };

  it('is off unless it is asked for, and its format is that of the log', () => {
    expect(readPlan({}).queryLog).toBeUndefined();
    expect(readPlan({ queryLog: '-', logFormat: 'json' }).queryLog).toEqual({ file: undefined, settings });
    expect(readPlan({ queryLog: '/q', queryLogFormat: 'json' }).queryLog).toEqual({ file: '/q', settings });
  });

  it('selects by zone, response code and client', () => {
    const flags = {
      queryLog: '-',
      queryLogFormat: 'json',
      queryLogSample: '10',
      queryLogZone: ['Shop.Test', 'b.test.'],
      queryLogRcode: ['nxdomain', 'SERVFAIL'],
      queryLogClient: ['10.0.0.0/8', '2001:db8::1'],
    };
    expect(readPlan(flags).queryLog?.settings).toEqual({
      format: 'json',
      sample: 10,
      zones: ['shop.test.', 'b.test.'],
      rcodes: [3, 2],
      clients: [
        { address: '10.0.0.0', prefix: 8 },
        { address: '2001:db8::1', prefix: 128 },
      ],
    });
  });

  it('names what it cannot select by', () => {
    const flags = {
      queryLog: '-',
      queryLogRcode: ['NXDOMAN'],
      queryLogClient: ['10.0.0.0/33', 'x', '::/129'],
      queryLogZone: ['.'],
    };
    const places = readProblems(flags).map((problem) => /--\S+/.exec(problem)?.[0]);
    expect(places).toEqual([
      '--query-log-zone:',
      '--query-log-rcode:',
      '--query-log-client:',
      '--query-log-client:',
      '--query-log-client:',
    ]);
  });
});

describe('the identity', () => {
  it('is the name of the host or a text', () => {
    const { identity } = readPlan({ nsid: 'edge 7', hideVersion: true, hideIdentity: true });
    expect(identity).toEqual({ hidesVersion: true, hidesHost: true, nsid: { data: 'edge 7' } });
    expect(readPlan({ nsid: 'hostname' }).identity.nsid).toEqual({ data: undefined });
  });

  it('is not both told and hidden, nor longer than fits', () => {
    expect(readProblems({ nsid: 'hostname', hideIdentity: true })).toEqual([
      '--nsid: names the host, which --hide-identity hides. Give it a text.',
    ]);
    expect(readProblems({ nsid: 'é'.repeat(65) })).toEqual([
      expect.stringMatching(/^--nsid: too long: .*128 octets/),
    ]);
  });
});
