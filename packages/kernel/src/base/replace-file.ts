/**
 * Replaces files as a whole: readers see the former content or the new one, never a part.
 *
 * The new content is written beside the file first, under a name that nobody can foresee. In a folder that others may write, a link
 * prepared there is never followed.
 */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';

const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
const RANDOM_OCTETS = 12;

/**
 * @param mode of the new file, before the umask
 * @param write writes the content
 * @returns the result of `write`
 * @throws Error of `write` or of `node:fs`; the former file is then as it was
 */
export async function replaceFile<Result>(
  path: string,
  mode: number,
  write: (file: FileHandle) => Promise<Result>,
): Promise<Result> {
  const beside = `${path}.${randomBytes(RANDOM_OCTETS).toString('hex')}.tmp`;
  const file = await open(beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  try {
    let result: Result;
    try {
      result = await write(file);
    } finally {
      await file.close();
    }
    await rename(beside, path);
    return result;
  } catch (error) {
    await rm(beside, { force: true }).catch(() => {});
    throw error;
  }
}
