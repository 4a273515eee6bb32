import { NOISE, putInPath } from '@portolan/kernel/base/testing/path-programs.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { describe, expect, it } from 'vitest';
import { ImageError, ImageLayers } from './image-layers.ts';

/** Fails at its first program. */
async function create(npm: string | undefined): Promise<unknown> {
  await putInPath(npm === undefined ? {} : { npm });
  const { path } = await makeTemporaryFolder();
  if (npm === undefined) process.env['PATH'] = path;
  return await ImageLayers.create({ folder: path, source: '.', architecture: 'amd64' });
}

describe('the layers of an image', () => {
  it.each([
    ['fails', `${NOISE}echo 'npm error 404' >&2; exit 1`, /^cannot run: npm pack: (?:.*\n)*npm error 404$/],
    ['is missing', undefined, 'program missing: npm. Install it.'],
    // The next program has nothing to unpack.
    ['warns', `${NOISE}echo node.tgz`, /^cannot run: tar --extract: (?:.*\n)*.*node\.tgz/],
  ])('are not made where a program %s', async (_how, npm, message) => {
    const made = create(npm);
    await expect(made).rejects.toThrow(ImageError);
    await expect(made).rejects.toThrow(message);
  });
});
