/**
 * The pod of etcd, kube2sky, SkyDNS and exechealthz: its interface to clients and probes, and its accepted arguments.
 */
import { resolveAlias } from '@portolan/cli/program-aliases.ts';
import { readSkyDnsFlags } from '@portolan/frontends/skydns/settings/skydns-flags.ts';
import { readSettings } from '@portolan/frontends/skydns/settings/skydns-settings.ts';
import { readHealthzFlags } from '@portolan/ops/healthz/settings/healthz-flags.ts';
import { readKube2SkyFlags } from '@portolan/ops/kube2sky/settings/kube2sky-flags.ts';
import { describe, expect, it } from 'vitest';
import { type Container, dnsPorts, IMAGE, readContainers, readDeployment } from './manifests.ts';

function container(name: string): Container {
  const found = readContainers('skydns').find((each) => each.name === name);
  if (found === undefined) throw new Error(`no container ${name}`);
  return found;
}

/** The words behind the command that the container's program stands for. */
function listArguments(name: string, command: string): readonly string[] {
  const { command: [entry = ''] = [], args } = container(name);
  const [called, ...words] = resolveAlias(entry, args);
  expect(called).toBe(command);
  return words;
}

describe('deploy/skydns', () => {
  it('has the containers, ports and probes of the old pod', () => {
    expect(readContainers('skydns').map(({ name }) => name)).toEqual([
      'etcd',
      'kube2sky',
      'skydns',
      'healthz',
    ]);
    expect(container('skydns')).toMatchObject({
      image: IMAGE,
      ports: dnsPorts(10_055),
      livenessProbe: { httpGet: { path: '/healthz', port: 8080 } },
      readinessProbe: { httpGet: { path: '/readiness', port: 8082 } },
    });
    expect(container('kube2sky')).toMatchObject({
      image: IMAGE,
      livenessProbe: { httpGet: { path: '/healthz', port: 8081 } },
      readinessProbe: { httpGet: { path: '/readiness', port: 8081 } },
    });
    expect(container('healthz').image).toBe(IMAGE.replace(':', '-exechealthz:'));
    expect(readDeployment('skydns').metadata.name).toBe('kube-dns');
  });

  it('has one etcd for all, by version 2 of its API', () => {
    const environment = Object.fromEntries(
      (container('skydns').env ?? []).map(({ name, value }) => [name, value]),
    );
    const flags = readSkyDnsFlags(listArguments('skydns', 'skydns'), environment);
    if (flags.kind !== 'flags') throw new Error(flags.kind);
    const skydns = readSettings(flags.read, environment);
    if (skydns.kind !== 'good') throw new Error(JSON.stringify(skydns.problems));
    const kube2sky = readKube2SkyFlags(listArguments('kube2sky', 'kube2sky'), {});
    if (kube2sky.kind !== 'good') throw new Error(JSON.stringify(kube2sky));
    const { domain, version, etcd, healthzPort, metrics, listen } = skydns.settings;
    expect({ domain, version, endpoints: etcd.endpoints }).toEqual({
      domain: kube2sky.settings.plan.domain,
      version: 2,
      endpoints: kube2sky.settings.plan.endpoints,
    });
    expect(kube2sky.settings.plan.version).toBe(2);
    expect({ healthzPort, port: metrics?.port, listen }).toEqual({
      healthzPort: 8082,
      port: 10_055,
      listen: { address: '0.0.0.0', port: 53 },
    });
    const [first] = etcd.endpoints;
    const args = container('etcd').args.join(' ');
    expect(args).toContain(`-listen-client-urls=http://127.0.0.1:2379,${first?.text}`);
    expect(args).toContain('-enable-v2=true');
  });

  it('has checks that healthz takes', () => {
    expect(readHealthzFlags(listArguments('healthz', 'healthz'))).toMatchObject({
      kind: 'good',
      plan: { port: 8080 },
    });
  });
});
