/**
 * The source of the program: its packages, their files, and what these import.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

export interface SourceFile {
  /** From the root of the repository. */
  readonly path: string;
  readonly text: string;
}

/** The packages of the program: those with sources that are no plugins from outside. */
export const PROGRAM_PACKAGES: readonly string[] = readdirSync('packages').filter(
  (name) => existsSync(`packages/${name}/src`) && !existsSync(`packages/${name}/src/plugin.ts`),
);

/** All TypeScript files of the program, tests and test support included. */
export function readSourceFiles(): readonly SourceFile[] {
  return PROGRAM_PACKAGES.flatMap((name) => {
    const folder = `packages/${name}/src`;
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .map((path) => join(folder, path))
      .map((path) => ({ path, text: readFileSync(path, 'utf8') }));
  });
}

/** What runs: without tests and test support. */
export function readProgramFiles(): readonly SourceFile[] {
  return readSourceFiles().filter(({ path }) => !path.endsWith('.test.ts') && !isTestSupport(path));
}

export function isTestSupport(path: string): boolean {
  return path.split('/').includes('testing');
}

/** The package that a path from the root lies in; undefined: in none. */
export function findPackage(path: string): string | undefined {
  return /^packages\/([^/]+)\//.exec(path)?.[1];
}

/** The path from the root that an import means; one of another package as it stands. */
export function resolveImport(importer: string, specifier: string): string {
  if (specifier.startsWith('.')) return normalize(join(dirname(importer), specifier));
  const [, name = '', rest] = /^@portolan\/([^/]+)(?:\/(.+))?$/.exec(specifier) ?? [];
  if (name === '') return specifier;
  if (name === 'plugin') return `packages/plugin/${rest ?? 'index'}.d.ts`;
  return `packages/${name}/src/${rest ?? 'index.ts'}`;
}
