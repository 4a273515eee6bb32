/**
 * The images of a Deployment or DaemonSet before and after a swap. Its annotation keeps both, so that they change together with it.
 */
import { asRecord, asText, type JsonRecord, parseRecord } from '@portolan/kubernetes/objects/trim/fields.ts';
import { imageOfPart } from '../manifests/part-image.ts';
import { findReplacedParts, readPodTemplate } from '../preflight/pod-template.ts';
import type { Original } from '../preflight/settings/originals.ts';
import type { WorkloadPlan } from '../preflight/settings/preflight-flags.ts';

/** Images by container. */
export type Images = ReadonlyMap<string, string>;

/** Why a swap cannot be made, or not be undone: a sentence with what to do. */
export class SwapError extends Error {
  override readonly name = 'SwapError';
}

const ANNOTATION = 'portolan-swap/images';

export interface SwappedImages {
  readonly former: Images;
  readonly current: Images;
}

export function listImages(workload: JsonRecord, original: Original): Images {
  const parts = findReplacedParts(readPodTemplate(workload), original);
  return new Map(parts.map(({ container }) => [container.name, container.image]));
}

/** @throws SwapError if a part has no image of its own */
export function imagesLike(original: Original, image: string): Images {
  return new Map(
    original.containers.map(({ name, target }) => {
      const found = imageOfPart(image, `-${target}`);
      if (found === undefined)
        throw new SwapError(
          `no image for ${name}: ${image}. A digest is of one image: give a tag, or the image of portolan-${target}.`,
        );
      return [name, found] as const;
    }),
  );
}

/** @returns undefined if there was no swap, or it was undone @throws SwapError if the annotation was changed */
export function readSwapped(workload: JsonRecord): SwappedImages | undefined {
  const text = asText(asRecord(asRecord(workload['metadata'])?.['annotations'])?.[ANNOTATION]);
  if (text === undefined) return undefined;
  const record = parseRecord(text);
  const former = readImages(record?.['former']);
  const current = readImages(record?.['current']);
  if (former !== undefined && current !== undefined) return { former, current };
  throw new SwapError(
    `the annotation ${ANNOTATION} does not have the former images: ${text}. Set the images by kubectl set image.`,
  );
}

function readImages(value: unknown): Images | undefined {
  const entries = Object.entries(asRecord(value) ?? {});
  const texts = entries.flatMap(([name, image]) =>
    typeof image === 'string' ? [[name, image] as const] : [],
  );
  return texts.length === 0 || texts.length < entries.length ? undefined : new Map(texts);
}

/**
 * What is applied: images, and the annotation. Without `kept` the annotation goes, since nobody else applies it.
 *
 * The server refuses it (409) if the object has changed since it was read.
 */
export function makePatch(
  { original, namespace }: WorkloadPlan,
  workload: JsonRecord,
  images: Images,
  kept: SwappedImages | undefined,
): JsonRecord {
  const resourceVersion = asText(asRecord(workload['metadata'])?.['resourceVersion']);
  const containers = [...images].map(([name, image]) => ({ name, image }));
  return {
    apiVersion: 'apps/v1',
    kind: original.kind,
    metadata: {
      name: original.workload,
      namespace,
      resourceVersion,
      ...(kept !== undefined && { annotations: { [ANNOTATION]: textOfSwapped(kept) } }),
    },
    spec: { template: { spec: { containers } } },
  };
}

function textOfSwapped({ former, current }: SwappedImages): string {
  return JSON.stringify({ former: Object.fromEntries(former), current: Object.fromEntries(current) });
}

export function sameImages(one: Images, other: Images): boolean {
  return [...one].every(([name, image]) => other.get(name) === image);
}
