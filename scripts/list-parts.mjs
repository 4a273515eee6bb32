// Adds Node.js, the packages of Debian and those that are built in to a list of parts in CycloneDX: list-parts.mjs NPM-LIST LAYERS
//
// LAYERS is the folder of image-layers.sh. Time and serial number are left out, so that the same parts make the same list.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pagePackages } from './built-in-packages.mjs';

const [list, layers] = process.argv.slice(2);
if (list === undefined || layers === undefined) {
  console.error('usage: list-parts.mjs NPM-LIST LAYERS');
  process.exit(2);
}
const parts = JSON.parse(readFileSync(list, 'utf8'));

/** The packages of a layer, as scanners of images find them. */
function debianParts(layer) {
  const folder = join(layers, layer, 'var/lib/dpkg/status.d');
  return readdirSync(folder).map((name) => {
    const text = readFileSync(join(folder, name), 'utf8');
    const field = (key) => new RegExp(`^${key}: (.*)$`, 'm').exec(text)?.[1];
    const version = field('Version');
    const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${field('Architecture')}&distro=trixie`;
    return { type: 'library', name, version, purl, 'bom-ref': purl };
  });
}

const builtIn = pagePackages().map(({ name, version, license }) => {
  const purl = `pkg:npm/${name}@${version}`;
  return {
    type: 'library',
    name,
    version,
    purl,
    'bom-ref': purl,
    licenses: [{ license: { id: license } }],
  };
});
const [, node] = /^ARG NODE=node:(\d+\.\d+\.\d+)/m.exec(readFileSync('Dockerfile', 'utf8')) ?? [];
const runtime = `pkg:generic/node@${node}`;
const debian = new Map(['base', 'shell', 'network'].flatMap(debianParts).map((part) => [part.purl, part]));
parts.components.push(...builtIn, {
  type: 'application',
  name: 'node',
  version: node,
  purl: runtime,
  'bom-ref': runtime,
});
parts.components.push(...[...debian.values()].sort((one, other) => (one.purl < other.purl ? -1 : 1)));
delete parts.metadata.timestamp;
const digest = createHash('sha256').update(JSON.stringify(parts.components)).digest('hex');
parts.serialNumber = `urn:uuid:${digest.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-5$3-8$4-$5')}`;
console.log(JSON.stringify(parts, null, 2));
