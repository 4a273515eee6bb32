import { formatUpstream } from '@portolan/kernel/forward/upstream-address.ts';
import { describeProblem } from '@portolan/server/settings/values/problem.ts';
import { describe, expect, it } from 'vitest';
import { memorySources } from '../../dnsmasq/settings/testing/memory-sources.ts';
import { planFromFlags } from '../../serve/settings/serve-plan.ts';
import { readKubeDnsFlags } from './kube-dns-flags.ts';

const environment = { HOST: 'api.example', PORT: '6443' };

function read(...words: readonly string[]) {
  const reading = readKubeDnsFlags(words, environment);
  if (reading.kind !== 'flags') throw new Error(reading.kind);
  const machine = { cores: 2, terminal: false, environment: {} };
  const checked = planFromFlags(reading.flags, machine, memorySources(), 'kube-dns');
  const problems = [...reading.problems, ...(checked.kind === 'bad' ? checked.problems : [])];
  return {
    ...reading,
    plan: checked.kind === 'good' ? checked.value : undefined,
    problems: problems.map(describeProblem),
  };
}

describe('the flags of kube-dns', () => {
  it('have the defaults of kube-dns', () => {
    const { plan, problems, notes } = read();
    expect([problems, notes]).toEqual([[], []]);
    expect(plan).toMatchObject({
      cluster: { domain: 'cluster.local.', dialect: 'kube-dns', pods: 'insecure', ttl: 30 },
      listen: { addresses: 'all', port: 53 },
      health: { port: 8081, cache: true },
      resolver: { upstreams: { kind: 'resolv-file', path: '/etc/resolv.conf' } },
      dynamic: { kind: 'none' },
      federations: [],
      initialSyncTimeout: 60_000,
      skyDnsMetrics: undefined,
      sidecar: undefined,
    });
  });

  it('are read as the manifests of kube-dns give them', () => {
    const words = ['--domain=cluster.local.', '--dns-port=10053', '--config-dir=/kube-dns-config', '--v=2'];
    const { plan, problems } = read(...words);
    expect(problems).toEqual([]);
    expect(plan).toMatchObject({
      listen: { port: 10_053 },
      dynamic: { kind: 'folder', directory: '/kube-dns-config', period: 10_000 },
      log: { level: 'info' },
      sidecar: undefined,
    });
  });

  it('are all taken, with one dash or two', () => {
    const { plan, problems } = read(
      '-config-map',
      'dns',
      '--config-map-namespace=here',
      '--config-period=1m0s',
      '-dns-bind-address=127.0.0.1',
      '--dns-port',
      '5353',
      '--domain=example.org',
      '--federations=a=a.example,b=b.example',
      '--healthz-port=9',
      '--initial-sync-timeout=5s',
      '--kubecfg-file=/config',
      `--kube-master-url=https://\${HOST}:$PORT`,
      '--nameservers=8.8.8.8:5353,8.8.4.4',
      '--v=4',
      '--vmodule=a=1',
      '--logtostderr',
      '--log-flush-frequency=5s',
    );
    expect(problems).toEqual([]);
    expect(plan).toMatchObject({
      cluster: {
        domain: 'example.org.',
        objects: { kind: 'api-server', kubecfgFile: '/config', masterUrl: 'https://api.example:6443' },
      },
      dynamic: { kind: 'config-map', namespace: 'here', name: 'dns' },
      federations: [
        { name: 'a', domain: 'a.example.' },
        { name: 'b', domain: 'b.example.' },
      ],
      listen: { addresses: ['127.0.0.1'], port: 5353 },
      health: { port: 9 },
      initialSyncTimeout: 5000,
      log: { level: 'debug' },
    });
    const upstreams = plan?.resolver.upstreams;
    expect(upstreams?.kind === 'servers' ? upstreams.servers.map(formatUpstream) : []).toEqual([
      '8.8.8.8:5353',
      '8.8.4.4:53',
    ]);
  });

  it('are not there if nothing is in them', () => {
    const { plan, problems } = read(
      '--config-map=',
      '--config-dir=',
      '--nameservers=',
      '--kubecfg-file=',
      '--federations=',
    );
    expect(problems).toEqual([]);
    expect(plan?.dynamic).toEqual({ kind: 'none' });
  });

  it('go along with those of serve', () => {
    const { plan, problems } = read(
      '--lameduck=1s',
      '--takeover',
      '--hosts=/a',
      '--hosts',
      '/b',
      '--log-level=warn',
      '--v=9',
    );
    expect(problems).toEqual([]);
    expect(plan).toMatchObject({
      lameduck: 1000,
      listen: { takeover: true },
      resolver: { hosts: ['/a', '/b'] },
      log: { level: 'warn' },
    });
  });

  it.each([
    [
      ['--config-map=a', '--config-dir=/b'],
      '--config-map: given together with --config-dir: "a". Leave one out: settings come from one place.',
    ],
    [
      ['--config-map=a', '--example'],
      '--config-map: there is no API server to ask: "a". Give the settings as files, with --config-dir.',
    ],
    [['--configdir=/b'], '--configdir: unknown flag. Did you mean --config-dir?'],
    [
      ['--nameservers=dns.google'],
      '--nameservers: not a server: "dns.google". Give addresses, as in 8.8.8.8:53,8.8.4.4.',
    ],
    [
      ['--nameservers=8.8.8.8', '--upstream=1.1.1.1'],
      '--upstream: has no effect with --nameservers: "1.1.1.1". Leave one of the two out.',
    ],
    [
      ['--federations=a'],
      '--federations: not a name and its domain: "a". Give names and their domains in lower case, as in myfederation=example.com,other=example.org.',
    ],
    [['--dns-port=dns'], '--dns-port: not a whole number: "dns". Give a port from 1 to 65535.'],
    [
      ['--kube-master-url=nowhere'],
      '--kube-master-url: not a URL: "nowhere". Give one such as https://10.0.0.1:6443.',
    ],
  ])('are refused: %j', (words, problem) => {
    expect(read(...words).problems).toEqual([problem]);
  });

  it('say what has no effect', () => {
    expect(read('--profiling', 'word').notes).toEqual([
      expect.stringMatching(/^--profiling has no effect: there is no pprof/),
      'arguments that are no flags have no effect: word',
    ]);
    expect(read('--profiling=false').notes).toEqual([]);
  });

  it.each([
    ['--help', 'help'],
    ['-h', 'help'],
    ['--version', 'version'],
  ])('show %s', (word, kind) => {
    expect(readKubeDnsFlags(['--v=2', word], {}).kind).toBe(kind);
  });
});
