/**
 * Flags, Corefile and ConfigMap of the running program, read by the code that would serve them.
 */
import { readCoreDnsFlags } from '@portolan/frontends/coredns/settings/coredns-flags.ts';
import { mountedFiles } from '@portolan/frontends/coredns/settings/mounted-files.ts';
import { readCorefile, type ServerBlock } from '@portolan/frontends/coredns/settings/read-corefile.ts';
import { type SurveyedCorefile, surveyCorefiles } from '@portolan/frontends/coredns/settings/survey.ts';
import { readDnsmasqOptions } from '@portolan/frontends/dnsmasq/settings/read-configuration.ts';
import type { ConfigSources } from '@portolan/frontends/dnsmasq/settings/sources.ts';
import { readKubeDnsFlags } from '@portolan/frontends/kube-dns/settings/kube-dns-flags.ts';
import { readNannyFlags } from '@portolan/frontends/kube-dns/settings/nanny-flags.ts';
import {
  EMPTY_NODE_CACHE_CONFIG,
  NODE_CACHE_KEYS,
  readNodeCacheConfig,
} from '@portolan/frontends/node-cache/settings/node-cache-config.ts';
import { readNodeCacheFlags } from '@portolan/frontends/node-cache/settings/node-cache-flags.ts';
import type { NodeCachePlan } from '@portolan/frontends/node-cache/settings/node-cache-plan.ts';
import { renderCorefile } from '@portolan/frontends/node-cache/settings/render-corefile.ts';
import { findOptions } from '@portolan/frontends/plugins/registry.ts';
import type { ConfigTexts } from '@portolan/kubernetes/config-map/config-texts.ts';
import { CONFIG_KEYS, readKubeDnsConfig } from '@portolan/server/settings/config-map/config-map.ts';
import { readSidecarFlags } from '@portolan/server/settings/sidecar/sidecar-flags.ts';
import { describeProblem, type Problem } from '@portolan/server/settings/values/problem.ts';
import { CheckFindings, type PreflightFinding } from './finding.ts';
import {
  type ConfigMapMount,
  type ConfigMaps,
  configMapMounts,
  mountedTexts,
  type Part,
  type PodTemplate,
} from './pod-template.ts';

export interface ReadSettings {
  /** Addresses by interface name, of the machine that looks. */
  readonly interfaces: ReadonlyMap<string, readonly string[]>;
  /** The files of a dnsmasq configuration. */
  readonly sources: ConfigSources;
  /** The address of the cluster's DNS, for the template of a node's cache. */
  readonly clusterDns: string | undefined;
}

export interface ReadConfiguration {
  readonly findings: readonly PreflightFinding[];
  /** Of the Corefile; empty without one, or if it does not start. */
  readonly plugins: Readonly<Record<string, number>>;
  readonly blocks: readonly ServerBlock[];
}

/** A container, and the files that it has from ConfigMaps. */
interface PartFiles extends Part {
  readonly mounts: readonly ConfigMapMount[];
  readonly texts: ReadonlyMap<string, string>;
}

export function checkConfiguration(
  template: PodTemplate,
  parts: readonly Part[],
  configMaps: ConfigMaps,
  settings: ReadSettings,
): ReadConfiguration {
  const reader = new ConfigurationChecks(settings);
  for (const part of parts) {
    const mounts = configMapMounts(template, part.container);
    reader.read({ ...part, mounts, texts: mountedTexts(mounts, configMaps) });
  }
  const { flags, configuration, plugins, blocks } = reader;
  return { findings: [...flags.all, ...configuration.all], plugins, blocks };
}

class ConfigurationChecks {
  readonly flags = new CheckFindings('flags');
  readonly configuration = new CheckFindings('configuration');
  plugins: Readonly<Record<string, number>> = {};
  blocks: readonly ServerBlock[] = [];
  readonly #settings: ReadSettings;

  constructor(settings: ReadSettings) {
    this.#settings = settings;
  }

  read(part: PartFiles): void {
    const { container, original } = part;
    if (container.command.length > 0)
      this.flags.add(
        'first',
        `container ${container.name} replaces the entry point: ${container.command.join(' ')}`,
        {
          sentence: `take command out of the manifest: the image of the target ${original.target} has the entry point`,
        },
      );
    const read = {
      coredns: () => this.#readCoreDns(part),
      'kube-dns': () => this.#readKubeDns(part),
      'dnsmasq-nanny': () => this.#readNanny(part),
      sidecar: () => this.#readSidecar(part),
      'node-cache': () => this.#readNodeCache(part),
    };
    read[original.target]();
  }

  #readCoreDns({ container, mounts, texts }: PartFiles): void {
    const command = readCoreDnsFlags(container.arguments);
    if (command.kind !== 'run') {
      const words = command.kind === 'end' ? command.text.split('\n')[0] : `-${command.kind}`;
      this.flags.add('first', `coredns does not serve with its arguments: ${words}`, {
        sentence: 'correct args in the manifest; portolan coredns --help lists the flags',
      });
      return;
    }
    const path = command.conf ?? 'Corefile';
    this.#readCorefile(path, texts.get(path), mounts, texts, command.port);
  }

  #readNodeCache({ container, mounts, texts }: PartFiles): void {
    const reading = readNodeCacheFlags(container.arguments);
    if (reading.kind !== 'good') {
      this.#addProblems(container.name, reading.kind === 'bad' ? reading.problems : []);
      return;
    }
    const { plan } = reading;
    const template = texts.get(plan.template);
    const text = template === undefined ? undefined : this.#render(plan, template, texts);
    this.#readCorefile(plan.template, text, mounts, texts, String(plan.port));
  }

  #render(plan: NodeCachePlan, template: string, texts: ReadonlyMap<string, string>): string {
    const folder = plan.configFolder ?? '/etc/kube-dns';
    const checked = readNodeCacheConfig(configTexts(folder, texts, NODE_CACHE_KEYS));
    if (checked.kind === 'bad') this.#addConfigMapProblems(checked.problems);
    const config = checked.kind === 'good' ? checked.value : EMPTY_NODE_CACHE_CONFIG;
    const { localAddresses, prometheusAddress } = plan;
    const port = String(plan.port);
    return renderCorefile(template, {
      localAddresses,
      prometheusAddress,
      port,
      ...config,
      // An address that nobody has: the report is about the rest.
      clusterDns: this.#settings.clusterDns ?? '192.0.2.53',
    }).text;
  }

  #readCorefile(
    path: string,
    text: string | undefined,
    mounts: readonly ConfigMapMount[],
    texts: ReadonlyMap<string, string>,
    port: string,
  ): void {
    if (text === undefined) {
      this.configuration.add('first', `no ConfigMap has the Corefile: ${path}`, {
        sentence: 'create the ConfigMap, or correct -conf and the volume in the manifest',
      });
      return;
    }
    const files = mountedFiles(
      texts,
      mounts.map(({ folder }) => folder),
    );
    const { interfaces } = this.#settings;
    const source = { label: path, file: path, text, files };
    const [surveyed] = surveyCorefiles([source], { environment: {}, interfaces }).corefiles;
    if (surveyed !== undefined) this.#addSurvey(surveyed);
    const defaultPort = Number.isInteger(Number(port)) ? Number(port) : 53;
    const settings = {
      file: path,
      files,
      profile: '1.14',
      defaultPort,
      environment: {},
      interfaces,
    } as const;
    const reading = readCorefile(text, settings);
    if (reading.kind === 'good') this.blocks = reading.blocks;
  }

  #addSurvey({ plugins, problems, warnings, differences }: SurveyedCorefile): void {
    this.plugins = plugins;
    for (const { message, place, remedy, refusedBy } of problems)
      this.configuration.add(
        'first',
        `${message} (${place})${refusedBy === 'both' ? '; CoreDNS refuses it too' : ''}`,
        { sentence: withoutFullStop(remedy) },
      );
    for (const warning of warnings) this.configuration.add('note', withoutFullStop(warning));
    for (const { plugin, text, compat } of differences)
      this.configuration.add(
        'note',
        `${plugin}: ${withoutFullStop(text)}${compat === undefined ? '' : ` (-compat=${compat} turns this off)`}`,
      );
  }

  #readKubeDns({ container, texts }: PartFiles): void {
    const reading = readKubeDnsFlags(container.arguments, {});
    if (reading.kind !== 'flags') return;
    this.#addProblems(container.name, reading.problems);
    for (const note of reading.notes) this.flags.add('note', `${container.name}: ${withoutFullStop(note)}`);
    const { configDir } = reading.flags;
    if (configDir === undefined) return;
    const checked = readKubeDnsConfig(configTexts(configDir, texts, CONFIG_KEYS));
    if (checked.kind === 'bad') this.#addConfigMapProblems(checked.problems);
  }

  #readNanny({ container }: PartFiles): void {
    const reading = readNannyFlags(container.arguments);
    if (reading.kind === 'bad') this.#addProblems(container.name, reading.problems);
    if (reading.kind !== 'good') return;
    for (const note of reading.notes) this.flags.add('note', `${container.name}: ${withoutFullStop(note)}`);
    const options = readDnsmasqOptions(reading.plan.dnsmasqWords, this.#settings.sources);
    if (options.kind === 'bad') this.#addProblems(container.name, options.problems);
    if (!('notes' in options)) return;
    for (const { where, text } of options.notes)
      this.flags.add('note', `${container.name}: ${where}: ${withoutFullStop(text)}`);
  }

  #readSidecar({ container }: PartFiles): void {
    const reading = readSidecarFlags(container.arguments);
    if (reading.kind === 'bad') this.#addProblems(container.name, reading.problems);
  }

  #addProblems(container: string, problems: readonly Problem[]): void {
    for (const problem of problems)
      this.flags.add(
        'first',
        `container ${container} does not start: ${withoutFullStop(describeProblem(problem))}`,
        {
          sentence: 'correct args in the manifest',
        },
      );
  }

  /** The running program rejects it too, or ignores it: an earlier one may be in force. */
  #addConfigMapProblems(problems: readonly Problem[]): void {
    for (const problem of problems)
      this.configuration.add('first', `ConfigMap kube-dns: ${problem.where}: ${problem.fault}`, {
        sentence: withoutFullStop(problem.remedy),
      });
  }
}

function configTexts(
  folder: string,
  texts: ReadonlyMap<string, string>,
  keys: readonly string[],
): ConfigTexts {
  return new Map(
    keys.flatMap((key) => {
      const text = texts.get(`${folder}/${key}`);
      return text === undefined ? [] : [[key, { kind: 'text', text }] as const];
    }),
  );
}

function withoutFullStop(text: string): string {
  return text.replace(/\.$/, '');
}

/** The addresses at which metrics are served, and whether they are shown at all. */
export function metricsPlaces(
  blocks: readonly ServerBlock[],
): readonly { readonly port: number; readonly isEncrypted: boolean }[] {
  return blocks.flatMap((block) => {
    const options = findOptions(block, 'prometheus');
    if (options === undefined) return [];
    const port = Number(/:(?<port>\d+)$/.exec(options.address)?.groups?.['port'] ?? '9153');
    return [{ port, isEncrypted: options.tlsConfiguration !== undefined }];
  });
}
