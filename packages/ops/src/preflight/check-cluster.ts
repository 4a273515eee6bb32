/**
 * What is around the program: who scrapes it, the nodes it runs on, and what handles the packets of pods.
 */
import type { ServerBlock } from '@portolan/frontends/coredns/settings/read-corefile.ts';
import {
  asRecord,
  asRecords,
  asText,
  asTexts,
  type JsonRecord,
  toTextMap,
} from '@portolan/kubernetes/objects/trim/fields.ts';
import { metricsPlaces } from './check-configuration.ts';
import { nodeInfo, readRuntime } from './check-rights.ts';
import { CheckFindings, type PreflightFinding } from './finding.ts';
import { findReplacedParts, type PodTemplate } from './pod-template.ts';
import type { PodNetwork } from './read-running.ts';
import type { Original } from './settings/originals.ts';

export interface Scraped {
  readonly original: Original;
  readonly namespace: string;
  readonly template: PodTemplate;
  readonly blocks: readonly ServerBlock[];
  readonly service: JsonRecord | undefined;
  readonly monitors: readonly JsonRecord[];
}

export function checkScraping(scraped: Scraped): readonly PreflightFinding[] {
  const findings = new CheckFindings('scraping');
  for (const { by, port, words } of scrapedPorts(scraped)) {
    const number = typeof port === 'number' ? port : namedPort(scraped, port);
    const state = number === undefined ? 'closed' : findPortState(scraped, number);
    if (state === 'closed')
      findings.add('risk', `${by} scrapes port ${words}, at which nothing listens, today either`, {
        sentence: 'correct the port, or add the plugin prometheus to the Corefile',
      });
    else if (state === 'encrypted')
      findings.add(
        'first',
        `${by} scrapes port ${words}, whose metrics are served by TLS, which is not built: the target would die`,
        {
          sentence: 'take tls out of the plugin prometheus, and scrape it by http',
        },
      );
    else findings.add('note', `${by} scrapes port ${words}, which stays`);
  }
  return findings.all;
}

interface ScrapedPort {
  readonly by: string;
  readonly port: number | string;
  /** The port as the scraper names it. */
  readonly words: string;
}

function scrapedPorts({ service, monitors, namespace, template }: Scraped): readonly ScrapedPort[] {
  const metadata = asRecord(service?.['metadata']);
  const annotations = toTextMap(metadata?.['annotations']);
  const noted =
    annotations.get('prometheus.io/scrape') === 'true' ? annotations.get('prometheus.io/port') : undefined;
  const byNote =
    noted === undefined
      ? []
      : [{ by: 'the annotation prometheus.io/port', port: Number(noted), words: noted }];
  const labels = { Service: toTextMap(metadata?.['labels']), Pod: template.labels };
  const byMonitor = monitors.flatMap((monitor) => {
    const isOfPods = monitor['kind'] === 'PodMonitor';
    const spec = asRecord(monitor['spec']) ?? {};
    if (!selects(monitor, isOfPods ? labels.Pod : labels.Service, namespace)) return [];
    const endpoints = asRecords(spec[isOfPods ? 'podMetricsEndpoints' : 'endpoints']);
    const own = asRecord(monitor['metadata']);
    const by = `${String(monitor['kind'])} ${String(own?.['namespace'])}/${String(own?.['name'])}`;
    return endpoints.flatMap(({ port, targetPort }) => {
      if (typeof targetPort === 'number' || typeof targetPort === 'string')
        return [{ by, port: targetPort, words: String(targetPort) }];
      if (typeof port !== 'string') return [];
      const target = isOfPods ? port : servicePort(service, port);
      return [{ by, port: target ?? port, words: port }];
    });
  });
  return [...byNote, ...byMonitor];
}

/** The target of a port of the Service: a number, or the name of a container's port. */
function servicePort(service: JsonRecord | undefined, name: string): number | string | undefined {
  const ports = asRecords(asRecord(service?.['spec'])?.['ports']);
  const found = ports.find((each) => each['name'] === name);
  const target = found?.['targetPort'] ?? found?.['port'];
  return typeof target === 'number' || typeof target === 'string' ? target : undefined;
}

function namedPort({ template, original }: Scraped, name: string): number | undefined {
  const ports = findReplacedParts(template, original).flatMap(({ container }) => container.ports);
  return ports.find((each) => each.name === name)?.port;
}

/** Only `matchLabels` and `matchExpressions` with In and Exists, which monitors of a DNS server have. */
function selects(monitor: JsonRecord, labels: ReadonlyMap<string, string>, namespace: string): boolean {
  const spec = asRecord(monitor['spec']) ?? {};
  const { any, matchNames } = asRecord(spec['namespaceSelector']) ?? {};
  const own = asText(asRecord(monitor['metadata'])?.['namespace']);
  const names = asTexts(matchNames);
  const isThere = any === true || (names.length === 0 ? own === namespace : names.includes(namespace));
  const { matchLabels, matchExpressions } = asRecord(spec['selector']) ?? {};
  const wanted = [...toTextMap(matchLabels)];
  return (
    isThere &&
    wanted.every(([key, value]) => labels.get(key) === value) &&
    asRecords(matchExpressions).every(({ key, operator, values }) => {
      const value = labels.get(String(key));
      return operator === 'Exists'
        ? value !== undefined
        : operator !== 'In' || asTexts(values).includes(value ?? '');
    })
  );
}

type PortState = 'open' | 'encrypted' | 'closed';

/** Those of a Corefile are known; those of kube-dns are the ports that its containers declare. */
function findPortState({ original, blocks, template }: Scraped, port: number): PortState {
  const declared = findReplacedParts(template, original).flatMap(({ container }) =>
    container.ports.map((each) => each.port),
  );
  if (original.name === 'kube-dns') return declared.includes(port) ? 'open' : 'closed';
  const place = metricsPlaces(blocks).find((each) => each.port === port);
  if (place !== undefined) return place.isEncrypted ? 'encrypted' : 'open';
  // That of set-up errors.
  if (original.name === 'node-cache' && port === 9353) return 'open';
  // A Corefile that does not start says nothing about ports.
  return blocks.length === 0 && declared.includes(port) ? 'open' : 'closed';
}

/** Slices that are named; of the others, there is the number. */
const MAX_NAMED = 5;

/** @param slices those of `addressType: FQDN` */
export function checkFqdnSlices(slices: readonly string[]): readonly PreflightFinding[] {
  const findings = new CheckFindings('endpoint-slices');
  if (slices.length === 0) return findings.all;
  const named = slices.slice(0, MAX_NAMED).join(', ');
  const others = slices.length > MAX_NAMED ? ` and ${slices.length - MAX_NAMED} others` : '';
  findings.add(
    'note',
    `EndpointSlices have the addressType FQDN, which Kubernetes deprecates; their names stay aliases: ${named}${others}`,
    { sentence: 'make their services ExternalNames, or give the slices addresses' },
  );
  return findings.all;
}

export function checkNodes(nodes: readonly JsonRecord[], { name }: Original): readonly PreflightFinding[] {
  const findings = new CheckFindings('nodes');
  const linux = nodes.filter((node) => nodeInfo(node)['operatingSystem'] !== 'windows');
  const distinct = (read: (node: JsonRecord) => string) => [...new Set(linux.map(read))].sort();
  const architectures = distinct((node) => asText(nodeInfo(node)['architecture']) ?? 'unknown');
  const others = architectures.filter((each) => !['amd64', 'arm64'].includes(each));
  if (others.length > 0)
    findings.add('first', `nodes have an architecture without an image: ${others.join(', ')}`, {
      sentence: 'keep the pods off these nodes by nodeSelector kubernetes.io/arch',
    });
  if (linux.length > 0)
    findings.add(
      'note',
      `${linux.length} Linux nodes: ${architectures.join(', ')}; ${distinct(readRuntime).join(', ')}. The image must have each architecture`,
    );
  if (name !== 'node-cache') return findings.all;
  const old = distinct((node) => asText(nodeInfo(node)['kernelVersion']) ?? '').filter((each) =>
    isBefore(each, 5, 12),
  );
  if (old.length > 0)
    findings.add('risk', `kernels before 5.12 keep rules in nftables after a killed pod: ${old.join(', ')}`, {
      sentence: 'no action is needed if the DaemonSet starts a pod again, which takes them over',
    });
  return findings.all;
}

function isBefore(version: string, major: number, minor: number): boolean {
  const [, first, second] = /^(\d+)\.(\d+)/.exec(version) ?? [];
  if (first === undefined || second === undefined) return false;
  return Number(first) < major || (Number(first) === major && Number(second) < minor);
}

/** The traps of a cache on every node: who sees the packets before the node's network does. */
export function checkNodeNetwork(
  { daemonSets, cilium, kubeProxy, calicoUsesBpf }: PodNetwork,
  words: readonly string[],
): readonly PreflightFinding[] {
  const findings = new CheckFindings('node-network');
  const addresses = localAddresses(words);
  const hasServiceAddress = addresses.some((address) => !/^(?:169\.254\.|fe80:)/i.test(address));
  const replaces = ['true', 'strict'].includes(cilium.get('kube-proxy-replacement') ?? '');
  if (replaces && hasServiceAddress)
    findings.add(
      'first',
      'Cilium replaces kube-proxy: its eBPF programs send queries for the Service past the address on the node',
      {
        sentence:
          'take portolan manifests --layout=node-local-cilium, with localRedirectPolicies.enabled=true',
      },
    );
  else if (daemonSets.includes('cilium') && cilium.size === 0)
    findings.add(
      'risk',
      'Cilium runs, and its ConfigMap cilium-config was not found: it may replace kube-proxy',
      {
        sentence: 'look at kube-proxy-replacement; if it is true, take the layout node-local-cilium',
      },
    );
  if (calicoUsesBpf && hasServiceAddress)
    findings.add('first', "Calico's eBPF mode sends queries for the Service past the address on the node", {
      sentence: 'give only the link-local address to -localip, and set it as clusterDNS of the kubelets',
    });
  const mode = /^\s*mode:\s*"?(?<mode>\w*)"?\s*$/m.exec([...kubeProxy.values()].join('\n'))?.groups?.['mode'];
  if (mode === 'ipvs' && hasServiceAddress)
    findings.add(
      'first',
      'kube-proxy runs in IPVS mode, which has the address of the Service on an interface of its own',
      {
        sentence: 'give only the link-local address to -localip, and set it as clusterDNS of the kubelets',
      },
    );
  if (findings.all.length === 0)
    findings.add(
      'note',
      `kube-proxy in mode ${mode === undefined || mode === '' ? 'iptables, the default' : mode}: no trap is known`,
    );
  return findings.all;
}

function localAddresses(words: readonly string[]): readonly string[] {
  const at = words.findIndex((word) => /^--?localip(?:=|$)/.test(word));
  const word = words[at] ?? '';
  const text = word.includes('=') ? word.slice(word.indexOf('=') + 1) : (words[at + 1] ?? '');
  return at < 0 ? [] : text.split(',').map((each) => each.trim());
}
