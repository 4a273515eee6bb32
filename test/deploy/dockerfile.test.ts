/**
 * Checks of the Dockerfile that need no build.
 */
import { existsSync, readFileSync } from 'node:fs';
import { resolveAlias } from '@portolan/cli/program-aliases.ts';
import { Dockerfile } from '@portolan/ops/image/dockerfile.ts';
import { IMAGE_TARGETS } from '@portolan/ops/image/settings/image-flags.ts';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readContainers } from './manifests.ts';

const dockerfile = new Dockerfile(readFileSync('Dockerfile', 'utf8'));
const { stages, statements } = dockerfile;

const ENTRIES: readonly (readonly [target: string, path: string, command: string])[] = [
  ['kube-dns', '/kube-dns', 'kube-dns'],
  ['coredns', '/coredns', 'coredns'],
  ['node-cache', '/node-cache', 'node-cache'],
  ['dnsmasq', '/usr/sbin/dnsmasq', 'dnsmasq'],
  ['dnsmasq-nanny', '/dnsmasq-nanny', 'dnsmasq-nanny'],
  ['sidecar', '/sidecar', 'sidecar'],
  ['exechealthz', '/exechealthz', 'healthz'],
  ['cluster-proportional-autoscaler', '/cluster-proportional-autoscaler', 'autoscaler'],
  ['skydns', '/skydns', 'skydns'],
  ['kube2sky', '/kube2sky', 'kube2sky'],
];
const ROOT_IN_THE_ORIGINAL = ['dnsmasq', 'dnsmasq-nanny', 'node-cache', 'skydns'];
/** The layer that a target has beyond those of all. */
const FURTHER_LAYERS: ReadonlyMap<string, string> = new Map([
  ['exechealthz', '/layers/shell/'],
  ['node-cache', '/layers/network/'],
]);
/** Its files have the capability to open port 53; all others run where no capability is left. */
const CAPABLE = 'coredns';

describe('the Dockerfile', () => {
  it('builds on one image, named by version and digest', () => {
    const images = statements
      .filter(({ instruction, words }) => instruction === 'ARG' && words.startsWith('NODE='))
      .map(({ words }) => words);
    expect(images).toHaveLength(1);
    for (const image of images) expect(image).toMatch(/=[a-z]+:\d+\.\d+\.\d+-[a-z-]+@sha256:[0-9a-f]{64}$/);
    expect(JSON.stringify(statements)).not.toContain('latest');
    for (const { from } of stages.values())
      expect(stages.has(from) || /^\$\{NODE\}$/.test(from) || from === 'scratch').toBe(true);
  });

  it('has a target for each image of kube-dns, and the whole one as the last', () => {
    expect([...stages.keys()]).toEqual(expect.arrayContaining(ENTRIES.map(([target]) => target)));
    expect([...IMAGE_TARGETS].sort()).toEqual(['portolan', ...ENTRIES.map(([target]) => target)].sort());
    expect([...stages.keys()].at(-1)).toBe('portolan');
  });

  it.each(ENTRIES)('%s: its entry is %s, a link that is called as %s', (target, path, command) => {
    expect(JSON.parse(dockerfile.last(target, 'ENTRYPOINT') ?? '[]')).toContain(path);
    expect(resolveAlias(path, [])).toEqual([command]);
    const script = readFileSync('scripts/image-layers.sh', 'utf8');
    const loop =
      /for name in ([^;]*); do\n {2}ln -s \S+ "\$folder\/portolan\/\$name"/.exec(script)?.[1]?.split(' ') ??
      [];
    const isLinked = script.includes(` "$folder/portolan${path}"\n`) || loop.includes(path.slice(1));
    expect(isLinked).toBe(true);
  });

  it.each(['portolan', ...ENTRIES.map(([target]) => target)])(
    '%s: shares all layers with the others',
    (target) => {
      const layers = dockerfile
        .listInstructions(target)
        .filter(({ instruction }) => ['RUN', 'COPY', 'ADD'].includes(instruction));
      const shared = dockerfile
        .listInstructions(target === CAPABLE ? 'without-node' : 'all')
        .filter(({ instruction }) => instruction === 'COPY');
      const further = target === CAPABLE ? '/layers/capable/' : FURTHER_LAYERS.get(target);
      const layer = { instruction: 'COPY', words: `--from=build ${further} /` };
      expect(layers).toEqual(further === undefined ? shared : [...shared, layer]);
      // Emulation is needed for nothing but this.
      expect(layers.map(({ instruction }) => instruction)).not.toContain('RUN');
    },
  );

  it.each(['portolan', ...ENTRIES.map(([target]) => target)])(
    '%s: is root only where the original is',
    (target) => {
      const user = dockerfile.last(target, 'USER');
      if (ROOT_IN_THE_ORIGINAL.includes(target)) expect(user).toBeUndefined();
      // By number: kubelet cannot know whether a name is root.
      else expect(user).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    },
  );

  it('gives the capability to open port 53 to Node.js and to the init before it', () => {
    const programs = ['/layers/capable/usr/local/bin/node', '/layers/capable/usr/bin/tini'];
    expect(dockerfile.capablePaths).toEqual(programs);
    const copied = stages.get('build')?.statements.map(({ words }) => words);
    expect(copied).toContain('--from=node /usr/local/bin/node /layers/capable/usr/local/bin/node');
    expect(JSON.stringify(copied)).toContain('cp /layers/base/usr/bin/tini /layers/capable/usr/bin/tini');
  });

  it.each(['portolan', ...ENTRIES.map(([target]) => target)])('%s: process 1 reaps', (target) => {
    expect(JSON.parse(dockerfile.last(target, 'ENTRYPOINT') ?? '[]').slice(0, 2)).toEqual([
      '/usr/bin/tini',
      '--',
    ]);
  });

  it('has labels of the Open Container Initiative, with the version of the package', () => {
    const { version, description, license } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(dockerfile.last('all', 'LABEL')).toContain(`description="${description}"`);
    expect(dockerfile.last('all', 'LABEL')).toContain(`licenses="${license}"`);
    const { version: chart, description: ofChart } = parse(readFileSync('deploy/chart/Chart.yaml', 'utf8'));
    expect([chart, ofChart]).toEqual([version, description]);
    expect(dockerfile.listInstructions('all')).toContainEqual({
      instruction: 'ARG',
      words: `VERSION=${version}`,
    });
  });

  it('names the repository in labels, where it is known', () => {
    const known = dockerfile.readLabels('all', { REPOSITORY: 'https://git.example/portolan' });
    const unknown = dockerfile.readLabels('all', {});
    const source = 'org.opencontainers.image.source';
    const vendor = 'org.opencontainers.image.vendor';
    expect(known).toMatchObject({
      [source]: 'https://git.example/portolan',
      [vendor]: 'The authors of Portolan',
    });
    expect(Object.keys(unknown)).toContain(vendor);
    expect(Object.keys(unknown)).not.toContain(source);
  });

  it('has the commands that the manifests name', () => {
    const paths = ENTRIES.map(([, path]) => path);
    for (const { command = [] } of readContainers('three')) expect(paths).toContain(command[0]);
  });

  it('is sent all that it copies, and no more than is there', () => {
    expect(readFileSync('.dockerignore', 'utf8')).toMatch(/^#.*\n\*\n/);
    const sent = readFileSync('.dockerignore', 'utf8')
      .split('\n')
      .flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []));
    const scripts = [...JSON.stringify(statements).matchAll(/\bscripts\/[\w.-]+/g)].map(([path]) => path);
    expect(sent).toEqual(expect.arrayContaining(scripts));
    for (const path of sent) expect(existsSync(path)).toBe(true);
    const { files } = JSON.parse(readFileSync('package.json', 'utf8')) as { files: readonly string[] };
    // What the package ships, but for what is built and what only people read.
    const others = ['dist', '!dist/**/*.map', 'docs', 'README.md', 'CHANGELOG.md', 'web'];
    for (const file of files.filter((each) => !others.includes(each))) expect(sent).toContain(file);
  });
});
