/**
 * Images as folders, unpacked from the layers of `portolan image` as a container runtime unpacks them.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ImageLayers } from '@portolan/ops/image/image-layers.ts';
import { writeTar } from '@portolan/ops/image/tar-archive.ts';

/** What a container of an image starts with, unless its manifest says otherwise. */
export interface Image {
  readonly root: string;
  readonly entry: readonly string[];
  readonly user: string;
  readonly environment: readonly string[];
}

/** @param folder of this machine, empty */
export async function makeLayers(folder: string): Promise<ImageLayers> {
  const architecture = process.arch === 'x64' ? 'amd64' : 'arm64';
  await mkdir(join(folder, 'layers-of'), { recursive: true });
  return await ImageLayers.create({ folder: join(folder, 'layers-of'), source: '.', architecture });
}

/** Puts the layers of a target over each other. */
export async function unpackImage(layers: ImageLayers, target: string, root: string): Promise<Image> {
  await mkdir(root, { recursive: true });
  const { dockerfile } = layers;
  for (const layer of dockerfile.listLayers(target)) await extract(writeTar(layers.entries(layer)), root);
  return {
    root,
    entry: JSON.parse(dockerfile.last(target, 'ENTRYPOINT') ?? '[]'),
    user: dockerfile.last(target, 'USER') ?? '0:0',
    environment: [dockerfile.last(target, 'ENV') ?? ''],
  };
}

async function extract(archive: AsyncIterable<Buffer>, folder: string): Promise<void> {
  const attributes = ['--xattrs', '--xattrs-include=security.capability'];
  const tar = spawn('tar', ['--extract', ...attributes, '--directory', folder], {
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  const ended = once(tar, 'close');
  await pipeline(Readable.from(archive), tar.stdin);
  const [code] = await ended;
  if (code !== 0) throw new Error(`tar ended with ${code}`);
}
