// Packages that a bundle contains, so they are not among those that are installed: in the program those that each start loads, since
// code in one file starts faster; in the page of the dashboard all that it uses.
import { readFileSync } from 'node:fs';

const IN_PROGRAM = ['commander'];
const IN_PAGE = ['preact', 'uplot'];

/** @returns name, version, licence by SPDX, and the text of the licence */
function describe(name) {
  const { version, license } = JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8'));
  return { name, version, license, text: readFileSync(`node_modules/${name}/LICENSE`, 'utf8').trim() };
}

export const programPackages = () => IN_PROGRAM.map(describe);
export const pagePackages = () => IN_PAGE.map(describe);
