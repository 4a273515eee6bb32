// An esbuild plugin: imports of the packages of this repository mean their sources beside this file, also where all other packages
// stay outside, and where the links of `node_modules` lead elsewhere.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const packages = fileURLToPath(new URL('../packages', import.meta.url));

/** The file that a specifier names by the `exports` of its package. */
function findSource(specifier) {
  const [, name, ...rest] = specifier.split('/');
  const { exports } = JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8'));
  const path = ['.', ...rest].join('/');
  const exported = exports[path] ?? exports['./*']?.replace('*', rest.join('/'));
  if (exported === undefined) throw new Error(`not exported by its package: ${specifier}`);
  return join(packages, name, exported.default ?? exported);
}

export const workspaces = {
  name: 'workspaces',
  setup: ({ onResolve }) => onResolve({ filter: /^@portolan\// }, ({ path }) => ({ path: findSource(path) })),
};
