// Writes the public address of the repository into the Chart.yaml of a release:
//
//   node scripts/name-repository.mjs CHART.YAML ADDRESS
import { readFileSync, writeFileSync } from 'node:fs';
import { parseDocument, stringify } from 'yaml';

const [file, address] = process.argv.slice(2);
const chart = parseDocument(readFileSync(file, 'utf8'));
chart.set('home', address);
chart.set('sources', [address]);
const links = [
  { name: 'documentation', url: `${address}#readme` },
  { name: 'support', url: `${address}/issues` },
];
chart.setIn(['annotations', 'artifacthub.io/links'], stringify(links));
writeFileSync(file, chart.toString());
