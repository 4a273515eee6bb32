/**
 * The flags of `portolan image`.
 */
import type { Flag, FlagsOf } from '@portolan/server/settings/flags/flag.ts';
import { createFlagReader } from '@portolan/server/settings/flags/flag-reader.ts';
import { faultOfImageName } from '@portolan/server/settings/values/image-name.ts';
import type { Checked } from '@portolan/server/settings/values/problem.ts';

/** The targets of the Dockerfile that are images. */
export const IMAGE_TARGETS = [
  'portolan',
  'kube-dns',
  'coredns',
  'node-cache',
  'dnsmasq',
  'dnsmasq-nanny',
  'sidecar',
  'exechealthz',
  'cluster-proportional-autoscaler',
  'skydns',
  'kube2sky',
] as const;
export type ImageTarget = (typeof IMAGE_TARGETS)[number];

/** As Debian and the Open Container Initiative name them. */
const ARCHITECTURES = ['amd64', 'arm64'] as const;
export type Architecture = (typeof ARCHITECTURES)[number];

export const IMAGE_FLAGS = [
  {
    name: 'target',
    valueName: 'name',
    value: { kind: 'choice', choices: IMAGE_TARGETS },
    default: 'portolan',
    help: 'image to build, one of the targets of the Dockerfile',
  },
  {
    name: 'output',
    valueName: 'file',
    value: { kind: 'file' },
    defaultNote: 'NAME-ARCH.tar in this folder',
    help: 'archive to write, in the layout of the Open Container Initiative',
  },
  {
    name: 'arch',
    valueName: 'name',
    value: { kind: 'choice', choices: ARCHITECTURES },
    defaultNote: 'that of this machine',
    help: 'architecture of the image',
  },
  {
    name: 'tag',
    valueName: 'name',
    value: { kind: 'text', of: 'an image' },
    defaultNote: 'portolan, or portolan-TARGET, with this version',
    help: 'name and version that the image has once it is imported',
  },
] as const satisfies readonly Flag[];

export type ImageFlags = FlagsOf<typeof IMAGE_FLAGS>;

export interface ImagePlan {
  readonly target: ImageTarget;
  /** The archive. */
  readonly output: string;
  readonly architecture: Architecture;
  /** With repository and version. */
  readonly name: string;
}

const MACHINES: ReadonlyMap<string, Architecture> = new Map([
  ['x64', 'amd64'],
  ['arm64', 'arm64'],
]);

/**
 * Validates all flags. All problems are reported, not only the first.
 *
 * @param version of this program
 * @param machine as Node.js names it, such as `x64`
 */
export function planFromImageFlags(flags: ImageFlags, version: string, machine: string): Checked<ImagePlan> {
  const read = createFlagReader(IMAGE_FLAGS, flags);
  const target = read.value('target');
  const architecture = read.value('arch') ?? MACHINES.get(machine);
  if (architecture === undefined && flags.arch === undefined)
    read.addProblem('--arch', 'no image for this machine', machine, `Give ${ARCHITECTURES.join(' or ')}.`);
  const name = flags.tag ?? `${target === 'portolan' ? target : `portolan-${target}`}:${version}`;
  const remedy = 'Give a repository and a version, as in registry.example/portolan:1.0.0.';
  const fault = name.includes('@') ? 'a digest' : faultOfImageName(name);
  if (fault !== undefined) read.addProblem('--tag', fault, name, remedy);
  const output =
    read.nonEmpty('--output', flags.output, 'a file') ??
    `${name.replace(/^.*\/|:.*$/g, '')}-${architecture}.tar`;
  const { problems } = read;
  if (problems.length > 0 || architecture === undefined) return { kind: 'bad', problems };
  return { kind: 'good', value: { target, architecture, name, output } };
}
