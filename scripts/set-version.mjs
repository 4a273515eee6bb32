// Writes the version of package.json wherever else it stands: images in manifests and guides, the Dockerfile, the chart.
//
// `npm version 0.3.0` calls it. test/deploy/version.test.ts finds what it leaves out.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const FOLDERS = ['deploy', 'docs/how-to', 'docs/tutorials'];
const FILES = ['Dockerfile', 'README.md'];
const NUMBER = String.raw`\d+\.\d+\.\d+(?:-[\w.]+)?`;

/** Each keeps its first group, which the version follows. */
const PLACES = [
  String.raw`((?:^|[\s"'/=])portolan(?:-(?!test)[a-z-]+)?:)`,
  String.raw`(portolan-(?:\$part|"?\$\{?part\}?"?):)`,
  String.raw`(registry\.example/[a-z-]+:)`,
  '(newTag: )',
  '(^ARG VERSION=)',
  '(^(?:version|appVersion): )',
].map((before) => new RegExp(`${before}${NUMBER}`, 'gm'));

const inFolders = FOLDERS.flatMap((folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(md|yaml|base)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name)),
);
for (const file of [...FILES, ...inFolders]) {
  const text = readFileSync(file, 'utf8');
  const written = PLACES.reduce((former, place) => former.replace(place, `$1${version}`), text);
  if (written !== text) writeFileSync(file, written);
}
