import { writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { Script } from 'node:vm';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { expect, test } from 'vitest';
import { codeCacheStates, loadBundle } from './cached-bundle.ts';

const DIGEST = 'a'.repeat(64);
const bundle = (digest: string) =>
  `//${digest}\n(function(exports,require,module,moduleUrl){\nexports.shared=require('./shared.js').word;exports.basename=require('node:path').basename(moduleUrl);\n})`;

/** Loads a bundle beside which there is a cache with this digest. */
async function load(
  name: string,
  digest: string | undefined,
  { spoil = (octets: Buffer) => octets, version = process.version } = {},
) {
  const folder = await makeTemporaryFolder();
  const file = await folder.write(`${name}.cjs`, bundle(DIGEST));
  const cache = new Script(bundle(DIGEST)).createCachedData();
  if (digest !== undefined)
    await writeFile(
      file.replace('.cjs', `.${process.arch}.cache`),
      Buffer.concat([Buffer.from(digest + version.padEnd(16)), spoil(cache)]),
    );
  const stub = pathToFileURL(file.replace('.cjs', '-command.js')).href;
  const loaded = loadBundle(stub, name, new Map([['./shared.js', { word: 'shared' }]]));
  expect(loaded).toEqual({ shared: 'shared', basename: `${name}-command.js` });
  return codeCacheStates().get(name);
}

test('a cache of the same build is used', async () => {
  expect(await load('same', DIGEST)).toBe('used');
});

test('a bundle without a cache, or with that of another build, runs', async () => {
  expect(await load('without', undefined)).toBe('absent');
  expect(await load('other-build', 'b'.repeat(64))).toBe('absent');
});

test('a cache of another version of Node.js is counted, and never reaches V8, which may take it', async () => {
  expect(await load('other-version', DIGEST, { version: `${process.version}1` })).toBe('rejected');
});

test('a cache that V8 rejects is counted, and the bundle runs', async () => {
  const spoil = (octets: Buffer) => {
    // The version of V8.
    octets[4] = (octets[4] ?? 0) ^ 0xff;
    return octets;
  };
  expect(await load('rejected', DIGEST, { spoil })).toBe('rejected');
});
