/**
 * What runc is asked for to start a container as the kubelet and containerd start it: user, capabilities, root, limits, mounts.
 */
import { parseQuantity } from '@portolan/kubernetes/objects/quantity.ts';
import { DEFAULT_CAPABILITIES } from '../image/container.ts';
import type { Image } from '../image/unpack-image.ts';
import type { OriginalContainer, OriginalPodSpec } from './original.ts';

export interface Mount {
  readonly source: string;
  readonly destination: string;
  readonly isReadOnly: boolean;
}

export interface BundleOptions {
  readonly spec: OriginalPodSpec;
  readonly container: OriginalContainer;
  readonly image: Image;
  /** Instead of the limit of the manifest. */
  readonly memory: string | undefined;
  readonly environment: readonly string[];
  readonly mounts: readonly Mount[];
  /** A process in the network namespace of the pod. */
  readonly networkPid: number;
  readonly cgroup: string;
}

const NANOS = 1_000_000_000n;
/** Microseconds, as the kubelet divides processor time. */
const CPU_PERIOD = 100_000;

/** Octets. */
export function findMemoryLimit(
  container: OriginalContainer,
  instead: string | undefined,
): number | undefined {
  const text = instead ?? container.resources?.limits?.memory;
  return text === undefined ? undefined : Number(parseNanos(text) / NANOS);
}

export function makeBundle(options: BundleOptions): object {
  const { spec, container, image, memory, environment, mounts, networkPid, cgroup } = options;
  const { securityContext = {}, command, args = [], env = [] } = container;
  const [user = '0', group = '0'] = image.user.split(':');
  const capabilities = listCapabilities(container);
  const limit = findMemoryLimit(container, memory);
  const cpu = container.resources?.limits?.cpu;
  return {
    ociVersion: '1.0.2',
    process: {
      user: {
        uid: securityContext.runAsUser ?? spec.securityContext?.runAsUser ?? Number(user),
        gid: securityContext.runAsGroup ?? spec.securityContext?.runAsGroup ?? Number(group),
        additionalGids: spec.securityContext?.supplementalGroups ?? [],
      },
      args: [...(command ?? image.entry), ...args],
      env: [
        'HOME=/',
        ...image.environment,
        ...environment,
        ...env.map(({ name, value }) => `${name}=${value}`),
      ],
      cwd: '/',
      noNewPrivileges: securityContext.allowPrivilegeEscalation === false,
      capabilities: { bounding: capabilities, permitted: capabilities, effective: capabilities },
    },
    root: { path: image.root, readonly: securityContext.readOnlyRootFilesystem === true },
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc' },
      { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=755'] },
      ...mounts.map(({ source, destination, isReadOnly }) => ({
        destination,
        source,
        type: 'bind',
        options: ['rbind', isReadOnly ? 'ro' : 'rw'],
      })),
    ],
    linux: {
      cgroupsPath: cgroup,
      sysctl: Object.fromEntries(
        (spec.securityContext?.sysctls ?? []).map(({ name, value }) => [name, value]),
      ),
      namespaces: [
        ...['pid', 'ipc', 'uts', 'mount'].map((type) => ({ type })),
        { type: 'network', path: `/proc/${networkPid}/ns/net` },
      ],
      resources: {
        ...(limit === undefined ? {} : { memory: { limit } }),
        ...(cpu === undefined ? {} : { cpu: { period: CPU_PERIOD, quota: computeQuota(cpu) } }),
      },
    },
  };
}

/** Those of CRI-O, which leaves fewest, and what the manifest adds and drops. */
function listCapabilities({ securityContext }: OriginalContainer): readonly string[] {
  const { add = [], drop = [] } = securityContext?.capabilities ?? {};
  const dropsAll = drop.some((name) => name.toUpperCase() === 'ALL');
  const kept = dropsAll ? [] : DEFAULT_CAPABILITIES.filter((name) => !drop.includes(name));
  return [...new Set([...kept, ...add])].map((name) => `CAP_${name}`);
}

const computeQuota = (cpu: string): number => Number((parseNanos(cpu) * BigInt(CPU_PERIOD)) / NANOS);

function parseNanos(text: string): bigint {
  const nanos = parseQuantity(text);
  if (nanos === undefined) throw new Error(`not a quantity: ${text}`);
  return nanos;
}
