/**
 * Builds an image, and prints its sizes and the ways to import it.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ImageError, ImageLayers } from '@portolan/ops/image/image-layers.ts';
import { type WrittenImage, writeOciArchive } from '@portolan/ops/image/oci-archive.ts';
import type { ImagePlan } from '@portolan/ops/image/settings/image-flags.ts';
import { ExitError } from '../grammar/exit.ts';
import { packageFolder } from '../process/package-folder.ts';

/** @throws ExitError if a step fails, after the reason is printed */
export async function buildImage(plan: ImagePlan): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'portolan-image-'));
  try {
    const { architecture } = plan;
    const layers = await ImageLayers.create({
      folder,
      source: dirname(packageFolder('package.json')),
      architecture,
    });
    process.stdout.write(report(plan, await writeOciArchive(layers, plan, plan.output, folder)));
  } catch (error) {
    if (!(error instanceof ImageError)) throw error;
    process.stderr.write(`portolan image: ${error.message}\n`);
    throw new ExitError(1);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function report({ name, architecture, output }: ImagePlan, { layers, digest }: WrittenImage): string {
  const rows = layers.map(({ words, bytes, compressedBytes }) => row(bytes, compressedBytes, words));
  const sum = (read: (layer: WrittenImage['layers'][number]) => number) =>
    layers.reduce((total, layer) => total + read(layer), 0);
  const total = row(
    sum(({ bytes }) => bytes),
    sum(({ compressedBytes }) => compressedBytes),
    'in all',
  );
  return [
    `${name} linux/${architecture} ${digest}`,
    '  unpacked  compressed',
    ...rows,
    total,
    `written: ${output}`,
    `Import it: podman load -i ${output}, ctr -n k8s.io images import ${output}, or kind load image-archive ${output}`,
    '',
  ].join('\n');
}

function row(bytes: number, compressed: number, words: string): string {
  return `${megabytes(bytes).padStart(10)}${megabytes(compressed).padStart(12)}  ${words}`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
