/**
 * Our own plugins outside the program pass the conformance kit, as they are built.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { flagOfPackage } from '@portolan/corefile/syntax/packaged-plugins.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';

const names = readdirSync('packages').filter((name) => existsSync(`packages/${name}/src/plugin.ts`));

/** In a process of its own: what else runs here would count as left behind. */
async function test(path: string): Promise<{ readonly status: number | null; readonly output: string }> {
  const kit = spawn(process.execPath, ['packages/plugin/test-plugin.js', path]);
  let output = '';
  for (const stream of [kit.stdout, kit.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const [status] = await once(kit, 'close');
  return { status, output };
}

/**
 * Plugins of the program whose handlers are written in the same contract, with examples where the definition has none: it is of the large
 * layer, for what the directive never asks for.
 */
const SMALL: ReadonlyMap<string, readonly string[]> = new Map([
  ['any', ['any']],
  ['chaos', ['chaos', 'chaos 1.0 "Ada Lovelace" Grace']],
  ['header', []],
  ['minimal', []],
  ['whoami', []],
]);

describe.each([...SMALL])('%s of the program', (name, examples) => {
  it('conforms', async () => {
    const folder = await makeTemporaryFolder();
    const outfile = join(folder.path, 'index.mjs');
    const more = examples.length === 0 ? '' : `, api: 2, examples: ${JSON.stringify(examples)}`;
    await build({
      stdin: {
        contents: `import { ${name} } from '@portolan/plugins/${name}/plugin.ts'; export default { ...${name}${more} };`,
        resolveDir: resolve('.'),
      },
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      logLevel: 'silent',
    });
    expect(await test(outfile)).toEqual({ status: 0, output: `${name} conforms\n` });
  });
});

it('has each as one of the packages that messages name', () => {
  for (const name of names) {
    const [, word = ''] =
      /name: '([a-z0-9_]+)'/.exec(readFileSync(`packages/${name}/src/plugin.ts`, 'utf8')) ?? [];
    expect(flagOfPackage(word)).toBe(`--plugin=${word}=@portolan/${name}`);
  }
});

describe.each(names)('%s', (name) => {
  const folder = join('dist/plugins/@portolan', name);

  it('conforms', async () => {
    const { status, output } = await test(join(folder, 'index.js'));
    expect(output).toMatch(/^[a-z0-9_]+ conforms\n$/);
    expect(status).toBe(0);
  });

  it('is an npm package of its name, without dependencies', () => {
    const described = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as unknown;
    expect(described).toMatchObject({ name: `@portolan/${name}`, type: 'module', exports: './index.js' });
    expect(described).not.toHaveProperty('dependencies');
    expect(readdirSync(folder).toSorted()).toEqual(['LICENSE', 'README.md', 'index.js', 'package.json']);
  });
});
