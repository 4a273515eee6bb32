/**
 * Checks whether Portolan can take the place of the DNS program that runs in a cluster. Nothing is written.
 */
import type { ConfigSources } from '@portolan/frontends/dnsmasq/settings/sources.ts';
import { asRecord, asText, type JsonRecord } from '@portolan/kubernetes/objects/trim/fields.ts';
import { checkFqdnSlices, checkNodeNetwork, checkNodes, checkScraping } from './check-cluster.ts';
import { checkConfiguration, type ReadConfiguration } from './check-configuration.ts';
import { checkMemory, checkPermissions, checkPrivileges } from './check-rights.ts';
import { checkOwner, checkRollout } from './check-rollout.ts';
import {
  PREFLIGHT_CHECKS,
  type PreflightCheckName,
  type PreflightFinding,
  type PreflightReport,
  type Seen,
} from './finding.ts';
import { findReplacedParts, type Part, readPodTemplate } from './pod-template.ts';
import type { RunningServer } from './read-running.ts';
import type { WorkloadPlan } from './settings/preflight-flags.ts';

/** What does not come from the cluster. */
export interface PreflightMachine {
  readonly interfaces: ReadonlyMap<string, readonly string[]>;
  readonly sources: ConfigSources;
}

export function makePreflight(
  { original, namespace }: WorkloadPlan,
  running: RunningServer,
  machine: PreflightMachine,
): PreflightReport {
  const template = readPodTemplate(running.workload);
  const parts = findReplacedParts(template, original);
  const checks = new RunChecks();
  checks.add('flags', missingContainers(original.containers, parts));
  const settings = { ...machine, clusterDns: findClusterIp(running.service) };
  const { plugins, blocks } =
    checks.see('configuration', running.configMaps, (maps) => {
      const read = checkConfiguration(template, parts, maps, settings);
      return { ...read, value: read };
    }) ?? NOTHING_READ;
  checks.add('privileges', checkPrivileges(template, parts, running.nodes));
  checks.see('memory', running.services, (count) => ({ findings: checkMemory(parts, count, original) }));
  const account = `${namespace}/${template.serviceAccount}`;
  checks.see('permissions', running.rules, (rules) => ({
    findings: checkPermissions(original, blocks, rules, account),
  }));
  checks.add('rollout', checkRollout(original, running.workload));
  checks.add('owner', checkOwner(running.workload));
  checks.see('scraping', bothSeen(running), ({ service, monitors }) => ({
    findings: checkScraping({ original, namespace, template, blocks, service, monitors }),
  }));
  checks.see('endpoint-slices', running.fqdnSlices, (slices) => ({ findings: checkFqdnSlices(slices) }));
  checks.see('nodes', running.nodes, (nodes) => ({ findings: checkNodes(nodes, original) }));
  if (original.name === 'node-cache') {
    const words = parts.flatMap(({ container }) => container.arguments);
    checks.see('node-network', running.network, (network) => ({
      findings: checkNodeNetwork(network, words),
    }));
  }
  return {
    like: original.name,
    workload: `${original.kind} ${namespace}/${original.workload}`,
    images: Object.fromEntries(parts.map(({ container }) => [container.name, container.image])),
    dialect: original.name === 'kube-dns' ? 'kube-dns' : 'coredns',
    plugins,
    arguments: Object.fromEntries(parts.map(({ container }) => [container.name, container.arguments])),
    ...checks.result(),
  };
}

const NOTHING_READ: Pick<ReadConfiguration, 'plugins' | 'blocks'> = { plugins: {}, blocks: [] };

/** Runs checks whose evidence could be read, and keeps the others with the reason. */
class RunChecks {
  readonly #findings: PreflightFinding[] = [];
  readonly #checked: PreflightCheckName[] = [];
  readonly #notChecked: { readonly check: PreflightCheckName; readonly reason: string }[] = [];

  add(check: PreflightCheckName, findings: readonly PreflightFinding[]): void {
    this.#checked.push(check);
    this.#findings.push(...findings);
  }

  see<Value, Result>(
    check: PreflightCheckName,
    seen: Seen<Value>,
    find: (value: Value) => { readonly findings: readonly PreflightFinding[]; readonly value?: Result },
  ): Result | undefined {
    if (seen.kind === 'unseen') {
      this.#notChecked.push({ check, reason: seen.reason });
      return undefined;
    }
    const { findings, value } = find(seen.value);
    this.add(check, findings);
    return value;
  }

  result(): Pick<PreflightReport, 'go' | 'findings' | 'checked' | 'notChecked'> {
    const ranks = ['first', 'risk', 'note'];
    const rank = ({ severity, check }: PreflightFinding) =>
      ranks.indexOf(severity) * PREFLIGHT_CHECKS.length + PREFLIGHT_CHECKS.indexOf(check);
    return {
      go: !this.#findings.some(({ severity }) => severity === 'first'),
      findings: this.#findings.toSorted((one, other) => rank(one) - rank(other)),
      checked: this.#checked,
      notChecked: this.#notChecked,
    };
  }
}

function missingContainers(
  wanted: readonly { readonly name: string }[],
  parts: readonly Part[],
): readonly PreflightFinding[] {
  const missing = wanted.filter(({ name }) => !parts.some(({ container }) => container.name === name));
  return missing.map(({ name }) => ({
    ...({ check: 'flags', severity: 'first', sentence: `the pod has no container ${name}` } as const),
    remedies: [
      { sentence: 'name the right Deployment or DaemonSet with --name, or the right program with --like' },
    ],
  }));
}

function bothSeen({ service, monitors }: RunningServer): Seen<{
  readonly service: JsonRecord | undefined;
  readonly monitors: readonly JsonRecord[];
}> {
  if (service.kind === 'unseen') return service;
  if (monitors.kind === 'unseen') return monitors;
  return { kind: 'seen', value: { service: service.value, monitors: monitors.value } };
}

/** The address of the Service. */
export function findClusterIp(service: Seen<JsonRecord | undefined>): string | undefined {
  if (service.kind === 'unseen') return undefined;
  const address = asText(asRecord(service.value?.['spec'])?.['clusterIP']);
  return address === 'None' || address === '' ? undefined : address;
}
