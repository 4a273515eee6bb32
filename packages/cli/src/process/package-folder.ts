/**
 * Folders that come with the program.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** @param path relative to the root of the package: beside `dist/` in a build, four folders up in the source */
export function packageFolder(path: string): string {
  const built = fileURLToPath(new URL(`../${path}`, import.meta.url));
  return existsSync(built) ? built : fileURLToPath(new URL(`../../../../${path}`, import.meta.url));
}
