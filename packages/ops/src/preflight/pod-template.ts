/**
 * The pod template of a Deployment or DaemonSet: containers, arguments, rights, memory, and mounted ConfigMaps.
 */
import { posix } from 'node:path';
import { parseQuantity } from '@portolan/kubernetes/objects/quantity.ts';
import {
  asRecord,
  asRecords,
  asText,
  asTexts,
  type JsonRecord,
  toTextMap,
} from '@portolan/kubernetes/objects/trim/fields.ts';
import type { Original, OriginalContainer } from './settings/originals.ts';

/** What container runtimes give to a container whose manifest neither drops nor adds a capability. */
const DEFAULT_CAPABILITIES = ['NET_BIND_SERVICE', 'NET_RAW', 'SETUID', 'SETGID', 'CHOWN', 'KILL'];

export interface RunningContainer {
  readonly name: string;
  readonly image: string;
  /** After the entry point of the image. */
  readonly arguments: readonly string[];
  /** Set if the manifest replaces the entry point. */
  readonly command: readonly string[];
  readonly capabilities: readonly string[];
  readonly drops: readonly string[];
  readonly isPrivileged: boolean;
  /** Undefined: the user of the image. */
  readonly user: number | undefined;
  /** Octets. */
  readonly memory: { readonly request: number | undefined; readonly limit: number | undefined };
  readonly ports: readonly { readonly name: string | undefined; readonly port: number }[];
  readonly mounts: readonly { readonly volume: string; readonly path: string }[];
}

export interface PodTemplate {
  readonly containers: readonly RunningContainer[];
  readonly sysctls: ReadonlyMap<string, string>;
  readonly isOnHostNetwork: boolean;
  readonly serviceAccount: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly spec: JsonRecord;
}

export function readPodTemplate(workload: JsonRecord): PodTemplate {
  const template = asRecord(asRecord(workload['spec'])?.['template']);
  const spec = asRecord(template?.['spec']) ?? {};
  const security = asRecord(spec['securityContext']) ?? {};
  return {
    containers: asRecords(spec['containers']).map((each) => readContainer(each, security)),
    sysctls: new Map(asRecords(security['sysctls']).map(({ name, value }) => [String(name), String(value)])),
    isOnHostNetwork: spec['hostNetwork'] === true,
    serviceAccount: asText(spec['serviceAccountName']) ?? 'default',
    labels: toTextMap(asRecord(template?.['metadata'])?.['labels']),
    spec,
  };
}

function readContainer(container: JsonRecord, podSecurity: JsonRecord): RunningContainer {
  const security = asRecord(container['securityContext']) ?? {};
  const { add, drop } = asRecord(security['capabilities']) ?? {};
  const drops = asTexts(drop).map(capabilityName);
  const given = drops.includes('ALL') ? [] : DEFAULT_CAPABILITIES.filter((each) => !drops.includes(each));
  const { requests, limits } = asRecord(container['resources']) ?? {};
  const user = security['runAsUser'] ?? podSecurity['runAsUser'];
  return {
    name: asText(container['name']) ?? '',
    image: asText(container['image']) ?? '',
    arguments: asTexts(container['args']),
    command: asTexts(container['command']),
    capabilities: [...new Set([...given, ...asTexts(add).map(capabilityName)])],
    drops,
    isPrivileged: security['privileged'] === true,
    user: typeof user === 'number' ? user : undefined,
    memory: { request: readMemoryOctets(requests), limit: readMemoryOctets(limits) },
    ports: asRecords(container['ports']).flatMap(({ name, containerPort }) =>
      typeof containerPort === 'number' ? [{ name: asText(name), port: containerPort }] : [],
    ),
    mounts: asRecords(container['volumeMounts']).flatMap(({ name, mountPath }) =>
      typeof name === 'string' && typeof mountPath === 'string' ? [{ volume: name, path: mountPath }] : [],
    ),
  };
}

function capabilityName(text: string): string {
  return text.toUpperCase().replace(/^CAP_/, '');
}

function readMemoryOctets(resources: unknown): number | undefined {
  const memory = asRecord(resources)?.['memory'];
  if (typeof memory !== 'string' && typeof memory !== 'number') return undefined;
  const nanos = parseQuantity(String(memory));
  return nanos === undefined ? undefined : Number(nanos / 1_000_000_000n);
}

export interface Part {
  readonly container: RunningContainer;
  readonly original: OriginalContainer;
}

/** The containers that are replaced. */
export function findReplacedParts({ containers }: PodTemplate, original: Original): readonly Part[] {
  return original.containers.flatMap((each) => {
    const container = containers.find(({ name }) => name === each.name);
    return container === undefined ? [] : [{ container, original: each }];
  });
}

export interface ConfigMapMount {
  readonly configMap: string;
  readonly folder: string;
  readonly isOptional: boolean;
  /** File names by key; empty: all keys, as they are. */
  readonly items: ReadonlyMap<string, string>;
}

/** Volumes from ConfigMaps, projected ones too, where a container has them. */
export function configMapMounts(
  { spec }: PodTemplate,
  { mounts }: RunningContainer,
): readonly ConfigMapMount[] {
  const volumes = asRecords(spec['volumes']);
  return mounts.flatMap(({ volume, path }) => {
    const found = volumes.find(({ name }) => name === volume);
    const projected = asRecords(asRecord(found?.['projected'])?.['sources']);
    return [found, ...projected].flatMap((each) => {
      const source = asRecord(each?.['configMap']);
      const configMap = asText(source?.['name']);
      if (source === undefined || configMap === undefined) return [];
      const items = asRecords(source['items']).flatMap(({ key, path: file }) =>
        typeof key === 'string' && typeof file === 'string' ? [[key, file] as const] : [],
      );
      const isOptional = source['optional'] === true;
      return [
        {
          configMap,
          folder: posix.normalize(path).replace(/(?<=.)\/$/, ''),
          isOptional,
          items: new Map(items),
        },
      ];
    });
  });
}

/** ConfigMaps by name. */
export type ConfigMaps = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** The files that a container has from ConfigMaps, by path. */
export function mountedTexts(
  mounts: readonly ConfigMapMount[],
  configMaps: ConfigMaps,
): ReadonlyMap<string, string> {
  return new Map(
    mounts.flatMap(({ configMap, folder, items }) =>
      [...(configMaps.get(configMap) ?? [])].flatMap(([key, text]) => {
        const file = items.size === 0 ? key : items.get(key);
        return file === undefined ? [] : [[posix.join(folder, file), text] as const];
      }),
    ),
  );
}
