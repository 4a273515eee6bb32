/**
 * The layers that images consist of, as folders: from Debian packages, Node.js of its npm package, and the npm package of Portolan.
 *
 * Neither Docker nor a registry of images is needed. Where this machine has the architecture of the image, the program of the image
 * runs once, to write its code caches.
 */
import { existsSync, readFileSync } from 'node:fs';
import { chmod, cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { createRunProgram, ProgramError } from '@portolan/kernel/base/run-program.ts';
import { Dockerfile } from './dockerfile.ts';
import type { Architecture } from './settings/image-flags.ts';
import { stripSymbols } from './strip-symbols.ts';
import { listEntries, type TarEntry } from './tar-archive.ts';

const run = createRunProgram(systemClock);
const NPM_ARCHITECTURES: Readonly<Record<Architecture, string>> = { amd64: 'x64', arm64: 'arm64' };
/** The path of the capable layer in the Dockerfile. */
const CAPABLE = '/layers/capable/';
/** Milliseconds: packages come over networks that may be slow. */
const TIMEOUT = 20 * 60_000;

/** A program of the system failed, or is missing. */
export class ImageError extends Error {
  override readonly name = 'ImageError';
}

export interface ImageLayersOptions {
  /** An empty folder. */
  readonly folder: string;
  /** The installed package, or a clone whose npm packages are installed. */
  readonly source: string;
  readonly architecture: Architecture;
}

export class ImageLayers {
  readonly dockerfile: Dockerfile;
  readonly #folder: string;

  private constructor(folder: string, dockerfile: Dockerfile) {
    this.#folder = folder;
    this.dockerfile = dockerfile;
  }

  /** @throws ImageError */
  static async create({ folder, source, architecture }: ImageLayersOptions): Promise<ImageLayers> {
    const dockerfile = new Dockerfile(readFileSync(join(source, 'Dockerfile'), 'utf8'));
    const layers = new ImageLayers(folder, dockerfile);
    const node = `node-linux-${NPM_ARCHITECTURES[architecture]}@${dockerfile.nodeVersion}`;
    await unpack(node, join(folder, 'node', 'usr', 'local'), ['package/bin/node', 'package/LICENSE']);
    const program = join(folder, 'node', 'usr', 'local', 'bin', 'node');
    await writeFile(program, stripSymbols(await readFile(program)));
    await chmod(program, 0o755);

    const npmPackage = join(folder, 'package');
    const isClone = existsSync(join(source, 'packages'));
    await unpack(isClone ? await copyClone(source, join(folder, 'clone')) : source, npmPackage);
    const script = join(npmPackage, 'scripts', 'image-layers.sh');
    const runsHere = process.platform === 'linux' && process.arch === NPM_ARCHITECTURES[architecture];
    await execute('sh', [
      script,
      architecture,
      npmPackage,
      join(folder, 'layers'),
      ...(runsHere ? [program] : []),
    ]);
    return layers;
  }

  /** The public address of the repository; empty: the npm package names none. */
  readRepository(): string {
    const text = readFileSync(join(this.#folder, 'package', 'package.json'), 'utf8');
    // Written by `npm pack`.
    const { homepage } = JSON.parse(text) as { readonly homepage?: string };
    return homepage?.replace(/#readme$/, '') ?? '';
  }

  /** What a layer adds to the image, in the order of its archive. @param to where it is copied to, from `/` on */
  async *entries(layer: {
    readonly from: string;
    readonly source: string;
    readonly to: string;
  }): AsyncGenerator<TarEntry> {
    const { from, source, to } = layer;
    if (source === CAPABLE) return yield* this.#capableEntries();
    const target = to.replace(/^\//, '');
    if (source.endsWith('/')) return yield* listEntries(this.#path(from, source), target);
    const folder = this.#path(from, source.slice(0, source.lastIndexOf('/')));
    for await (const entry of listEntries(folder))
      if (entry.path === basename(source)) yield { ...entry, path: target };
  }

  /** Programs of other layers once more, with a file capability. */
  async *#capableEntries(): AsyncGenerator<TarEntry> {
    for (const path of this.dockerfile.capablePaths) {
      const inside = path.slice(CAPABLE.length - 1);
      const isOfNode = existsSync(this.#path('node', inside));
      const layer = {
        from: isOfNode ? 'node' : 'build',
        source: isOfNode ? inside : `/layers/base${inside}`,
      };
      for await (const entry of this.entries({ ...layer, to: inside }))
        yield entry.kind === 'file' ? { ...entry, opensLowPorts: true } : entry;
    }
  }

  /** The place of what a stage has at a path. */
  #path(stage: string, path: string): string {
    return join(this.#folder, stage === 'node' ? 'node' : '', path);
  }
}

/**
 * The files of a clone that the package is made from. Packing builds the program, and must not replace the build of the clone.
 *
 * @returns `to`
 */
async function copyClone(clone: string, to: string): Promise<string> {
  const ignore = readFileSync(join(clone, '.dockerignore'), 'utf8');
  const sent = ignore.split('\n').flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []));
  for (const path of sent) await cp(join(clone, path), join(to, path), { recursive: true });
  await symlink(resolve(clone, 'node_modules'), join(to, 'node_modules'));
  await execute(process.execPath, ['scripts/build.mjs', '--package', '--no-code-caches'], to);
  return to;
}

/** @param source a folder, or a package of the npm registry @param members of the archive; all if empty */
async function unpack(source: string, folder: string, members: readonly string[] = []): Promise<void> {
  await mkdir(folder, { recursive: true });
  const options = ['--silent', '--ignore-scripts', '--prefer-offline', '--pack-destination', folder];
  const archive = join(folder, (await execute('npm', ['pack', ...options, source])).trim());
  const how = ['--extract', '--no-same-owner', '--strip-components=1', '--directory', folder];
  await execute('tar', [...how, '--file', archive, ...members]);
  await execute('rm', [archive]);
}

/** @returns standard output @throws ImageError */
async function execute(program: string, words: readonly string[], folder?: string): Promise<string> {
  try {
    return await run({ program, words, folder, timeout: TIMEOUT });
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    if (error.isMissing) throw new ImageError(`program missing: ${program}. Install it.`);
    throw new ImageError(`cannot run: ${program} ${words[0] ?? ''}: ${error.complaint.trim()}`);
  }
}
