/**
 * Builds the images of the Dockerfile as folders: executes its statements without Docker and without an image registry.
 *
 * Node.js comes from its npm package, all other files from the sources in the Dockerfile. Layers are hard links, which keep file
 * capabilities.
 */
import { execFile } from 'node:child_process';
import { cp, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { allOf, last, sentPaths, stages, statements } from '../deploy/dockerfile.ts';

const run = promisify(execFile);

/** What a container of an image starts with, unless its manifest says otherwise. */
export interface Image {
  readonly root: string;
  readonly entry: readonly string[];
  readonly user: string;
  readonly environment: readonly string[];
}

export class ImageBuild {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Carries out the stages that images copy from, in a folder that is empty. */
  static async create(folder: string): Promise<ImageBuild> {
    const build = new ImageBuild(folder);
    await build.#unpackNode();
    for (const { instruction, words } of stages.get('build')?.statements ?? []) {
      if (instruction === 'COPY') await build.#copyForBuild(words.split(' '));
      if (instruction === 'RUN') await build.#run(words);
    }
    return build;
  }

  /** Puts the layers of a target over each other. */
  async makeImage(target: string): Promise<Image> {
    const root = join(this.#folder, 'targets', target);
    await mkdir(root, { recursive: true });
    for (const { instruction, words } of allOf(target)) {
      if (instruction === 'COPY') await this.#copyLayer(words, root);
    }
    return {
      root,
      entry: JSON.parse(last(target, 'ENTRYPOINT') ?? '[]'),
      user: last(target, 'USER') ?? '0:0',
      environment: [last(target, 'ENV') ?? ''],
    };
  }

  /** The stage `node`, as far as something is copied from it. */
  async #unpackNode(): Promise<void> {
    const [, version] = /^NODE=node:(\d+\.\d+\.\d+)/.exec(statements[0]?.words ?? '') ?? [];
    const local = join(this.#folder, 'node', 'usr', 'local');
    await mkdir(local, { recursive: true });
    const options = ['--silent', '--prefer-offline', '--pack-destination', this.#folder];
    const { stdout } = await run('npm', ['pack', ...options, `node-linux-${process.arch}@${version}`]);
    await run('tar', [
      ...['--extract', '--no-same-owner', '--strip-components=1', '--directory', local],
      ...['--file', join(this.#folder, stdout.trim()), 'package/bin/node', 'package/LICENSE'],
    ]);
  }

  /** Paths of the machine that is built on are in the folder `build`, the working directory in `build/build`. */
  #inBuild(path: string): string {
    return join(this.#folder, 'build', path);
  }

  async #copyForBuild(words: readonly string[]): Promise<void> {
    const [from, path = '', to = ''] = words;
    if (from === '--from=node') return this.#link(join(this.#folder, 'node', path), this.#inBuild(to));
    const sources = words[0] === '.' ? sentPaths() : words.slice(0, -1);
    for (const source of sources) await cp(source, join(this.#inBuild('build'), source), { recursive: true });
  }

  /** Absolute paths that the build makes are moved into its folder; those of the image are within `/image`. */
  async #run(command: string): Promise<void> {
    const moved = command.replaceAll(
      /(?<=[ "=])\/(?=image|root-of|node-of-image|capable)/g,
      this.#inBuild('/'),
    );
    const environment = {
      ...process.env,
      TARGETARCH: process.arch === 'x64' ? 'amd64' : process.arch,
      PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
      npm_config_prefer_offline: 'true',
    };
    await run('sh', ['-ec', moved], { cwd: this.#inBuild('build'), env: environment, maxBuffer: 1 << 26 });
  }

  #copyLayer(words: string, root: string): Promise<void> {
    const [, stage = '', path = '', to = ''] = /^--from=(\S+) (\S+) (\S+)$/.exec(words) ?? [];
    return this.#link(join(this.#folder, stage, path), join(root, to));
  }

  /** As COPY does it: of a folder it takes the content. */
  async #link(source: string, to: string): Promise<void> {
    const isFolder = source.endsWith('/');
    await mkdir(isFolder ? to : dirname(to), { recursive: true });
    await run('cp', ['--archive', '--link', '--remove-destination', isFolder ? `${source}.` : source, to]);
  }
}
