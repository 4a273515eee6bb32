// Packages that are part of the dashboard's page. They are built in, so they are not among those that are installed.
import { readFileSync } from 'node:fs';

/** @returns name, version, licence by SPDX, and the text of the licence */
export function builtInPackages() {
  return ['preact', 'uplot'].map((name) => {
    const { version, license } = JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8'));
    return { name, version, license, text: readFileSync(`node_modules/${name}/LICENSE`, 'utf8').trim() };
  });
}
