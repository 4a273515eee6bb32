// Prints where the files of a release come from, as a statement of in-toto with the predicate of SLSA: write-provenance.mjs FOLDER
//
// It has no time and no name of a machine, so that the same sources make the same statement. REPOSITORY is the public address.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  console.error('usage: write-provenance.mjs FOLDER');
  process.exit(2);
}
const sha256 = (file) => createHash('sha256').update(readFileSync(file)).digest('hex');
const git = (...words) => execFileSync('git', words, { encoding: 'utf8' }).trim();
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const repository = process.env.REPOSITORY || 'portolan';
const [, node] = /^ARG NODE=node:(\d+\.\d+\.\d+)/m.exec(readFileSync('Dockerfile', 'utf8')) ?? [];

const subject = readdirSync(folder)
  .filter((name) => name.startsWith('portolan') && !name.endsWith('.provenance.json'))
  .sort()
  .map((name) => ({ name, digest: { sha256: sha256(join(folder, name)) } }));
const statement = {
  _type: 'https://in-toto.io/Statement/v1',
  subject,
  predicateType: 'https://slsa.dev/provenance/v1',
  predicate: {
    buildDefinition: {
      buildType: `${repository}#.ci/release`,
      externalParameters: { version },
      resolvedDependencies: [
        {
          uri: `git+${repository}@refs/tags/v${version}`,
          digest: { gitCommit: git('rev-parse', 'HEAD') },
          // A dry run may have changes that are not committed.
          annotations: { changed: git('status', '--porcelain', '--untracked-files=no') !== '' },
        },
        { uri: 'file:package-lock.json', digest: { sha256: sha256('package-lock.json') } },
        { uri: `pkg:generic/node@${node}` },
      ],
    },
    runDetails: { builder: { id: `${repository}#.ci/release` } },
  },
};
console.log(JSON.stringify(statement, null, 2));
