import { TYPE } from '@portolan/dns/types.ts';
import { describeProblem } from '@portolan/server/settings/values/problem.ts';
import { describe, expect, it } from 'vitest';
import { memorySources } from '../../dnsmasq/settings/testing/memory-sources.ts';
import type { ServeFlags } from './serve-flags.ts';
import { planFromFlags } from './serve-plan.ts';

type Environment = Readonly<Record<string, string>>;

function read(flags: ServeFlags, environment: Environment = {}, command: 'serve' | 'kube-dns' = 'serve') {
  const machine = { cores: 2, terminal: false, environment };
  return planFromFlags(flags, machine, memorySources(), command);
}

function readPlan(...args: Parameters<typeof read>) {
  const checked = read(...args);
  if (checked.kind === 'bad') throw new Error(checked.problems.map(describeProblem).join('\n'));
  return checked.value;
}

const SKYDNS = { address: undefined, path: '/metrics', namespace: 'skydns', subsystem: 'skydns' };

describe('serve with a ConfigMap', () => {
  it.each<ServeFlags>([{ configMap: 'kube-dns' }, { configDir: '/kube-dns-config' }])(
    'is the whole pod: %j',
    (flags) => {
      const plan = readPlan(flags);
      expect(plan).toMatchObject({
        cluster: { dialect: 'kube-dns' },
        listen: { port: 53 },
        health: { port: 8081, cache: true },
        skyDnsMetrics: { ...SKYDNS, port: 10_055 },
        sidecar: {
          dnsmasq: { server: { host: '127.0.0.1', port: 53 } },
          http: { port: 10_054, path: '/metrics', namespace: 'kubedns', waitForPort: false },
        },
      });
      expect(plan.sidecar?.probes.map(({ label, type, name }) => [label, type, name])).toEqual([
        ['kubedns', TYPE.SRV, 'kubernetes.default.svc.cluster.local.'],
        ['dnsmasq', TYPE.A, 'kubernetes.default.svc.cluster.local.'],
      ]);
    },
  );

  it('does as other flags say', () => {
    const plan = readPlan({
      configMap: 'kube-dns',
      dialect: 'coredns',
      dnsPort: '5353',
      dnsBindAddress: ['192.0.2.1'],
      prometheusPort: '[::1]:9',
      sidecarPort: '127.0.0.1:0',
      takeover: true,
    });
    expect(plan).toMatchObject({
      cluster: { dialect: 'coredns' },
      skyDnsMetrics: { ...SKYDNS, address: '::1', port: 9 },
      sidecar: {
        dnsmasq: { server: { host: '192.0.2.1', port: 5353 } },
        http: { address: '127.0.0.1', port: 0, waitForPort: true },
      },
    });
    expect(readPlan({ configMap: 'a', prometheusPort: 'none', sidecarPort: 'none' })).toMatchObject({
      skyDnsMetrics: undefined,
      sidecar: undefined,
    });
  });

  it.each([
    [['::'], '::1'],
    [['::1', '127.0.0.1'], '127.0.0.1'],
    [['0.0.0.0', '::'], '127.0.0.1'],
    [['fd00::1'], 'fd00::1'],
  ])('probes itself where it listens: %j', (dnsBindAddress, host) => {
    expect(readPlan({ configDir: '/x', dnsBindAddress }).sidecar?.dnsmasq.server.host).toBe(host);
  });

  it('reads the ConfigMap where it is told to', () => {
    expect(readPlan({ configMap: 'dns', configMapNamespace: 'here' }).dynamic).toEqual({
      kind: 'config-map',
      namespace: 'here',
      name: 'dns',
    });
    expect(readPlan({ configMap: 'dns' }).dynamic).toMatchObject({ namespace: 'kube-system' });
    expect(readPlan({ configDir: '/x', configPeriod: '500ms' }).dynamic).toMatchObject({ period: 500 });
  });
});

describe('metrics under the names of SkyDNS', () => {
  const environment = {
    PROMETHEUS_PORT: '10055',
    PROMETHEUS_PATH: '/m',
    PROMETHEUS_NAMESPACE: 'a',
    PROMETHEUS_SUBSYSTEM: 'b',
  };
  const all = { address: undefined, port: 10_055, path: '/m', namespace: 'a', subsystem: 'b' };

  it('are where the environment says', () => {
    expect(readPlan({}, environment, 'kube-dns').skyDnsMetrics).toEqual(all);
    expect(readPlan({ configMap: 'a' }, environment).skyDnsMetrics).toEqual(all);
    expect(readPlan({ prometheusPort: '9' }, environment, 'kube-dns').skyDnsMetrics).toEqual({
      ...all,
      port: 9,
    });
  });

  it('are nowhere else', () => {
    expect(readPlan({}, environment).skyDnsMetrics).toBeUndefined();
    expect(readPlan({}, { PROMETHEUS_PORT: '' }, 'kube-dns').skyDnsMetrics).toBeUndefined();
  });

  it.each([
    [{ PROMETHEUS_PORT: 'x' }, 'PROMETHEUS_PORT: not a whole number: "x". Give a port from 0 to 65535.'],
    [
      { PROMETHEUS_PORT: '1', PROMETHEUS_PATH: 'm' },
      'PROMETHEUS_PATH: not a path: "m". Give one such as /metrics.',
    ],
    [
      { PROMETHEUS_PORT: '1', PROMETHEUS_NAMESPACE: '1a' },
      'PROMETHEUS_NAMESPACE: not a part of a name: "1a". Use letters, digits and underscores, and no digit in front.',
    ],
  ])('want %j put right', (wrong, problem) => {
    const checked = read({}, wrong, 'kube-dns');
    expect(checked.kind === 'bad' ? checked.problems.map(describeProblem) : []).toEqual([problem]);
  });
});
