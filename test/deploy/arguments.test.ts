/**
 * The arguments of every container, parsed by the programs' own parsers, to find mistakes in manifests here and not in a cluster.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { readCommandLine } from '@portolan/cli/grammar/command-line.ts';
import { resolveAlias } from '@portolan/cli/program-aliases.ts';
import { createProcessSources } from '@portolan/cli/servers/dnsmasq-sources.ts';
import { readDnsmasqOptions } from '@portolan/frontends/dnsmasq/settings/read-configuration.ts';
import { readKubeDnsFlags } from '@portolan/frontends/kube-dns/settings/kube-dns-flags.ts';
import { readNannyFlags } from '@portolan/frontends/kube-dns/settings/nanny-flags.ts';
import { SERVE_FLAGS, type ServeFlags } from '@portolan/frontends/serve/settings/serve-flags.ts';
import type { ServePlan } from '@portolan/frontends/serve/settings/serve-options.ts';
import { planFromFlags } from '@portolan/frontends/serve/settings/serve-plan.ts';
import type { Layout } from '@portolan/ops/manifests/settings/manifests-flags.ts';
import { readSidecarFlags } from '@portolan/server/settings/sidecar/sidecar-flags.ts';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type Container, FOLDERS, readContainers, readDeployment, readLayout } from './manifests.ts';
import { type Kustomization, patchDeployment } from './patches.ts';
import { KubernetesSchemas } from './schema.ts';

function toEnvironment({ env = [] }: Container): Readonly<Record<string, string>> {
  return Object.fromEntries(env.map(({ name, value }) => [name, value]));
}

/** @throws for arguments that are not taken */
function readPlan(flags: ServeFlags, container: Container, command: 'serve' | 'kube-dns'): ServePlan {
  const machine = { cores: 2, terminal: false, environment: toEnvironment(container) };
  const checked = planFromFlags(flags, machine, createProcessSources(), command);
  if (checked.kind === 'bad') throw new Error(JSON.stringify(checked.problems));
  return checked.value;
}

function readServe(container: Container): ServePlan {
  const [name, ...words] = container.args;
  expect(name).toBe('serve');
  const line = readCommandLine(words, { name: 'serve', summary: '', flags: SERVE_FLAGS });
  if (line.kind === 'help' || line.problems.length > 0) throw new Error(JSON.stringify(line));
  return readPlan(line.flags, container, 'serve');
}

/** The words after the name of the command that the container's own name of the program stands for. */
function listArguments({ command = [], args }: Container, name: string): readonly string[] {
  const [called, ...words] = resolveAlias(command[0] ?? '', args);
  expect(called).toBe(name);
  return words;
}

function containerNamed(name: string): Container {
  const container = [...readContainers('one'), ...readContainers('three')].find((each) => each.name === name);
  if (container === undefined) throw new Error(`no container ${name}`);
  return container;
}

describe('the arguments of', () => {
  it('portolan make the kube-dns pod', () => {
    const plan = readServe(containerNamed('portolan'));
    expect(plan).toMatchObject({
      cluster: { domain: 'cluster.local.', dialect: 'kube-dns', pods: 'insecure' },
      listen: { port: 53 },
      health: { port: 8081 },
      snapshotFile: '/var/lib/portolan/snapshot',
      lameduck: 10_000,
    });
  });

  it('kubedns are flags of kube-dns', () => {
    const container = containerNamed('kubedns');
    const reading = readKubeDnsFlags(listArguments(container, 'kube-dns'), toEnvironment(container));
    if (reading.kind !== 'flags') throw new Error(`read as ${reading.kind}`);
    expect(reading.problems).toEqual([]);
    const plan = readPlan(reading.flags, container, 'kube-dns');
    expect(plan).toMatchObject({
      cluster: { domain: 'cluster.local.', dialect: 'kube-dns' },
      listen: { port: 10053 },
      health: { port: 8081 },
    });
  });

  it('dnsmasq are flags of its nanny, and options of dnsmasq', () => {
    const reading = readNannyFlags(listArguments(containerNamed('dnsmasq'), 'dnsmasq-nanny'));
    if (reading.kind !== 'good') throw new Error(JSON.stringify(reading));
    expect(reading.plan.configDir).toBe('/etc/k8s/dns/dnsmasq-nanny');
    const options = readDnsmasqOptions(reading.plan.dnsmasqWords, createProcessSources());
    if (options.kind !== 'good') throw new Error(JSON.stringify(options));
    expect(options.notes.map(({ text }) => text)).toEqual([]);
    expect(options.plan.process.mode).toBe('foreground');
  });

  it('sidecar are its flags', () => {
    const reading = readSidecarFlags(listArguments(containerNamed('sidecar'), 'sidecar'));
    if (reading.kind !== 'good') throw new Error(JSON.stringify(reading));
    expect(reading.plan.probes.map(({ label }) => label)).toEqual(['kubedns', 'dnsmasq']);
  });
});

it('the component keep-corefile leaves out the ConfigMap of each layout that has one', () => {
  const path = 'deploy/components/keep-corefile/kustomization.yaml';
  // A file of our own.
  const [rule] = (parse(readFileSync(path, 'utf8')) as Kustomization).patches ?? [];
  expect(parse(rule?.patch ?? '')).toMatchObject({ $patch: 'delete', kind: 'ConfigMap' });
  const layouts = Object.keys(FOLDERS) as readonly Layout[];
  const names = layouts
    .flatMap(readLayout)
    .flatMap(({ kind, metadata }) => (kind === 'ConfigMap' ? [metadata.name] : []));
  expect([...new Set(names)].sort().join('|')).toBe(rule?.target.name);
});

describe.each(readdirSync('deploy/components'))('the component %s', (name) => {
  const folder = `deploy/components/${name}`;
  // A file of our own.
  const component = parse(readFileSync(`${folder}/kustomization.yaml`, 'utf8')) as Kustomization;

  it('makes a Deployment that is still one, with arguments that are taken', () => {
    const deployment = patchDeployment(readDeployment('one'), component);
    expect(new KubernetesSchemas('v1.37').complaints(deployment)).toEqual([]);
    const [portolan] = deployment.spec.template.spec.containers;
    if (portolan === undefined) throw new Error('no container');
    expect(() => readServe(portolan)).not.toThrow();
  });

  it('has the files that it names', () => {
    const others = readdirSync(folder).filter((file) => file !== 'kustomization.yaml');
    expect(component.resources ?? []).toEqual(others);
  });
});
