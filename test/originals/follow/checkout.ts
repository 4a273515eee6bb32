/**
 * A checkout of an original, from which files are read.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export class Checkout {
  readonly #folder: string;

  /** @throws Error if there is no such folder */
  constructor(folder: string) {
    if (!existsSync(folder)) throw new Error(`no such folder: ${folder}. Give that of a checkout.`);
    this.#folder = folder;
  }

  has(path: string): boolean {
    return existsSync(join(this.#folder, path));
  }

  /** @throws Error if it is not there: then the original has moved it, which is a difference to look at */
  read(path: string): string {
    if (!this.has(path))
      throw new Error(`no file ${path} in ${this.#folder}. Is it a checkout of that original?`);
    return readFileSync(join(this.#folder, path), 'utf8');
  }

  /** The Go files of a folder without tests; none, if the folder is not there. */
  readGo(folder: string): readonly string[] {
    if (!this.has(folder)) return [];
    return readdirSync(join(this.#folder, folder), { withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.go') && !entry.name.endsWith('_test.go'))
      .map(({ name }) => this.read(join(folder, name)));
  }
}
