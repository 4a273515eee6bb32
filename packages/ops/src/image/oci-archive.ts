/**
 * Writes an image as one archive in the layout of the Open Container Initiative (image-spec 1.1).
 *
 * `manifest.json` is for `docker load` of releases before 25. For the same layers the archive is the same, octet by octet.
 */
import { createHash, type Hash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Transform, type TransformCallback } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { ImageLayers } from './image-layers.ts';
import type { ImagePlan } from './settings/image-flags.ts';
import { fileEntry, MODIFIED, type TarEntry, writeTar } from './tar-archive.ts';

const TYPES = {
  index: 'application/vnd.oci.image.index.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar+gzip',
} as const;
const BLOBS = 'blobs/sha256';
const CREATED = new Date(MODIFIED * 1000).toISOString();

interface Layer {
  /** What it adds, as the Dockerfile writes it. */
  readonly words: string;
  readonly file: string;
  /** Of the compressed archive. */
  readonly digest: string;
  readonly compressedBytes: number;
  /** Of the archive before compression. */
  readonly contentDigest: string;
  readonly bytes: number;
}

export interface WrittenImage {
  readonly layers: readonly Layer[];
  /** Of the manifest, with its algorithm. */
  readonly digest: string;
}

/** @param folder for the layers while they are written */
export async function writeOciArchive(
  layers: ImageLayers,
  plan: Omit<ImagePlan, 'output'>,
  output: string,
  folder: string,
): Promise<WrittenImage> {
  const written: Layer[] = [];
  for (const [at, layer] of layers.dockerfile.listLayers(plan.target).entries()) {
    const words = `${layer.source} ${layer.to}`;
    written.push(await writeLayer(layers.entries(layer), words, join(folder, `layer-${at}`)));
  }
  const config = json(createImageConfig(layers, plan, written));
  const manifest = json({
    schemaVersion: 2,
    mediaType: TYPES.manifest,
    config: descriptor(TYPES.config, config),
    layers: written.map(({ digest, compressedBytes }) => ({
      mediaType: TYPES.layer,
      digest: `sha256:${digest}`,
      size: compressedBytes,
    })),
  });
  const unfinished = `${output}.unfinished`;
  try {
    await pipeline(writeTar(archiveEntries(plan, manifest, config, written)), createWriteStream(unfinished));
    await rename(unfinished, output);
  } finally {
    await rm(unfinished, { force: true });
  }
  await Promise.all(written.map(({ file }) => rm(file)));
  return { layers: written, digest: `sha256:${sha256(manifest)}` };
}

async function writeLayer(entries: AsyncIterable<TarEntry>, words: string, file: string): Promise<Layer> {
  const content = new Digest();
  const compressed = new Digest();
  // The level is part of what makes two builds equal.
  await pipeline(writeTar(entries), content, createGzip({ level: 6 }), compressed, createWriteStream(file));
  const { size } = await stat(file);
  return {
    words,
    file,
    digest: compressed.digest(),
    compressedBytes: size,
    contentDigest: content.digest(),
    bytes: content.bytes,
  };
}

/** The configuration of the image, with what a container starts with unless its manifest says otherwise. */
function createImageConfig(
  layers: ImageLayers,
  { target, architecture, name }: Omit<ImagePlan, 'output'>,
  written: readonly Layer[],
) {
  const { dockerfile } = layers;
  const words = (instruction: string): unknown => JSON.parse(dockerfile.last(target, instruction) ?? 'null');
  const version = /:([^:/]*)$/.exec(name)?.[1] ?? '';
  return {
    created: CREATED,
    architecture,
    os: 'linux',
    config: {
      User: dockerfile.last(target, 'USER'),
      Env: [dockerfile.last(target, 'ENV')],
      Entrypoint: words('ENTRYPOINT'),
      Cmd: words('CMD') ?? undefined,
      Labels: dockerfile.readLabels(target, { VERSION: version, REPOSITORY: layers.readRepository() }),
      StopSignal: dockerfile.last(target, 'STOPSIGNAL'),
    },
    rootfs: { type: 'layers', diff_ids: written.map(({ contentDigest }) => `sha256:${contentDigest}`) },
    history: written.map((layer) => ({ created: CREATED, created_by: `COPY ${layer.words}` })),
  };
}

/** All files of the layout, in the order in which importers read them. */
function archiveEntries(
  { name, architecture }: Omit<ImagePlan, 'output'>,
  manifest: Buffer,
  config: Buffer,
  layers: readonly Layer[],
): readonly TarEntry[] {
  const [, tag = ''] = /:([^:/]*)$/.exec(name) ?? [];
  const index = json({
    schemaVersion: 2,
    mediaType: TYPES.index,
    manifests: [
      {
        ...descriptor(TYPES.manifest, manifest),
        annotations: { 'io.containerd.image.name': fullName(name), 'org.opencontainers.image.ref.name': tag },
        platform: { architecture, os: 'linux' },
      },
    ],
  });
  const forDocker = json([
    {
      Config: `${BLOBS}/${sha256(config)}`,
      RepoTags: [name],
      Layers: layers.map(({ digest }) => `${BLOBS}/${digest}`),
    },
  ]);
  // Two layers may be the same, and have one blob.
  const unique = new Map(layers.map((layer) => [layer.digest, layer]));
  return [
    fileEntry('oci-layout', json({ imageLayoutVersion: '1.0.0' })),
    fileEntry('index.json', index),
    fileEntry('manifest.json', forDocker),
    { kind: 'folder', path: 'blobs', isSticky: false },
    { kind: 'folder', path: BLOBS, isSticky: false },
    fileEntry(`${BLOBS}/${sha256(manifest)}`, manifest),
    fileEntry(`${BLOBS}/${sha256(config)}`, config),
    ...[...unique.values()].map(({ digest, file, compressedBytes }): TarEntry => {
      const read = () => createReadStream(file);
      const content = { size: compressedBytes, isExecutable: false, opensLowPorts: false, read };
      return { kind: 'file', path: `${BLOBS}/${digest}`, ...content };
    }),
  ];
}

/** As kubelet looks it up: names without a registry are those of Docker Hub. */
function fullName(name: string): string {
  const [first = '', ...rest] = name.split('/');
  if (rest.length === 0) return `docker.io/library/${name}`;
  return /[.:]|^localhost$/.test(first) ? name : `docker.io/${name}`;
}

function descriptor(mediaType: string, content: Buffer) {
  return { mediaType, digest: `sha256:${sha256(content)}`, size: content.length };
}

function json(value: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(value)}\n`);
}

function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Passes octets on, and takes their digest. */
class Digest extends Transform {
  readonly #hash: Hash = createHash('sha256');
  bytes = 0;

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#hash.update(chunk);
    this.bytes += chunk.length;
    done(null, chunk);
  }

  /** In hexadecimal digits, once all have passed. */
  digest(): string {
    return this.#hash.digest('hex');
  }
}
