/**
 * The files of the page, as `scripts/build.mjs` makes them from `dashboard/`.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HttpReply } from '../../observe/http-route.ts';

const FILES = [
  { path: '/', file: 'index.html', type: 'text/html; charset=utf-8' },
  { path: '/page.js', file: 'page.js', type: 'text/javascript; charset=utf-8' },
  { path: '/page.css', file: 'page.css', type: 'text/css; charset=utf-8' },
  { path: '/LICENSES.txt', file: 'LICENSES.txt', type: 'text/plain; charset=utf-8' },
];

/** By path. @throws Error if the build lacks them */
export function readPageFiles(folder: string): ReadonlyMap<string, HttpReply> {
  return new Map(
    FILES.map(({ path, file, type }) => [
      path,
      { status: 200, type, body: readFileSync(join(folder, file)) },
    ]),
  );
}
