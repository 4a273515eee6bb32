import { describe, expect, it } from 'vitest';
import { memorySources } from '../../test/dnsmasq-options/memory-sources.ts';
import type { ServerPlan } from './plan.ts';
import { describeProblem } from './problem.ts';
import { planFromFlags, type ServeFlags } from './serve-flags.ts';

const machine = { cores: 2, terminal: false, environment: {} };

function planOf(flags: ServeFlags, on = machine): ServerPlan {
  const checked = planFromFlags(flags, on, memorySources());
  if (checked.kind === 'bad') throw new Error(checked.problems.map(describeProblem).join('\n'));
  return checked.value;
}

function problemsOf(flags: ServeFlags): readonly string[] {
  const checked = planFromFlags(flags, machine, memorySources());
  return checked.kind === 'bad' ? checked.problems.map(describeProblem) : [];
}

describe('the defaults', () => {
  it('are those that every installer of a cluster DNS sets', () => {
    expect(planOf({})).toEqual({
      cluster: {
        domain: 'cluster.local.',
        dialect: 'coredns',
        pods: 'insecure',
        ttl: 30,
        objects: { kind: 'api-server', kubecfgFile: undefined, context: undefined, masterUrl: undefined },
      },
      resolver: {
        upstreams: { kind: 'resolv-file', path: '/etc/resolv.conf' },
        policy: 'sequential',
        stubDomains: [],
        hosts: [],
        cacheOctets: 16_777_216,
        cacheEntries: undefined,
        dnsmasq: undefined,
        notes: [],
      },
      listen: { addresses: 'all', port: 53, udpReaders: 1, takeover: false },
      health: { address: undefined, port: 8081, cache: false },
      log: { level: 'info', format: 'json' },
      dynamic: { kind: 'none' },
      federations: [],
      skyDnsMetrics: undefined,
      sidecar: undefined,
      snapshotFile: undefined,
      initialSyncTimeout: 60_000,
      lameduck: 5_000,
    });
  });

  it.each([
    [0.5, 1],
    [1, 1],
    [2, 1],
    [3.5, 2],
    [5, 4],
    [64, 4],
  ])('give %d cores %d readers', (cores, readers) => {
    expect(planOf({}, { cores, terminal: false, environment: {} }).listen.udpReaders).toBe(readers);
  });

  it('write text where a person reads', () => {
    expect(planOf({}, { cores: 1, terminal: true, environment: {} }).log.format).toBe('text');
  });
});

describe('values', () => {
  it('may be given in any usual form', () => {
    const plan = planOf({
      domain: 'Example.ORG',
      dnsBindAddress: ['127.0.0.1,[::1]', '127.0.0.1'],
      healthzPort: '[::1]:9',
      lameduck: '1m30s',
      initialSyncTimeout: '0',
    });
    expect(plan.cluster.domain).toBe('example.org.');
    expect(plan.listen.addresses).toEqual(['127.0.0.1', '::1']);
    expect(plan.health).toEqual({ address: '::1', port: 9, cache: false });
    expect(plan.lameduck).toBe(90_000);
    expect(plan.initialSyncTimeout).toBe(0);
  });

  it.each<[ServeFlags, string]>([
    [{ ttl: '3601' }, '--ttl: out of range: "3601". Give a number of seconds from 0 to 3600.'],
    [{ ttl: '-1' }, '--ttl: not a whole number: "-1". Give a number of seconds from 0 to 3600.'],
    [{ dnsPort: '0' }, '--dns-port: out of range: "0". Give a port from 1 to 65535.'],
    [{ udpReaders: '32' }, '--udp-readers: out of range: "32". Give a number of threads from 1 to 31.'],
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
    [
      { kubeMasterUrl: 'ftp://x' },
      '--kube-master-url: neither http nor https: "ftp://x". Give one such as https://10.0.0.1:6443.',
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
    expect(problemsOf(flags)).toEqual([problem]);
  });

  it('that are wrong are all reported together', () => {
    expect(problemsOf({ ttl: 'x', pods: 'y', logLevel: 'z', healthzPort: '99999' })).toHaveLength(4);
  });
});
