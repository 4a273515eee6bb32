// Packages that the page of the dashboard contains, so they are not among those that are installed.
import { readFileSync } from 'node:fs';

const IN_PAGE = ['preact', 'uplot'];

/** @returns name, version, licence by SPDX, and the text of the licence */
function describe(name) {
  const { version, license } = JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8'));
  return { name, version, license, text: readFileSync(`node_modules/${name}/LICENSE`, 'utf8').trim() };
}

export const pagePackages = () => IN_PAGE.map(describe);
