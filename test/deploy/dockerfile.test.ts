/**
 * What the Dockerfile says, as far as it can be told without building it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { wordsAsCalled } from '../../src/cli/called-as.ts';
import { containersOf } from './manifests.ts';

interface Statement {
  readonly instruction: string;
  readonly words: string;
}

interface Stage {
  readonly name: string;
  readonly from: string;
  readonly statements: readonly Statement[];
}

/** Statements with their continued lines joined; comments left out. */
function readStatements(): readonly Statement[] {
  const lines = readFileSync('Dockerfile', 'utf8')
    .replace(/^#.*\n/gm, '')
    .replaceAll('\\\n', ' ')
    .split('\n');
  return lines
    .filter((line) => line !== '')
    .map((line) => {
      const [, instruction = '', words = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
      return { instruction, words: words.replaceAll(/\s+/g, ' ') };
    });
}

function readStages(statements: readonly Statement[]): ReadonlyMap<string, Stage> {
  const stages: { name: string; from: string; statements: Statement[] }[] = [];
  for (const statement of statements) {
    if (statement.instruction !== 'FROM') stages.at(-1)?.statements.push(statement);
    else {
      const [, from = '', name = ''] = /^(?:--platform=\S+ )?(\S+) AS (\S+)$/.exec(statement.words) ?? [];
      stages.push({ name, from, statements: [] });
    }
  }
  return new Map(stages.map((stage) => [stage.name, stage]));
}

const statements = readStatements();
const stages = readStages(statements);

/** The statements of a stage after those that it builds on. */
function allOf(name: string): readonly Statement[] {
  const stage = stages.get(name);
  return stage === undefined ? [] : [...allOf(stage.from), ...stage.statements];
}

function last(target: string, instruction: string): string | undefined {
  return allOf(target).findLast((statement) => statement.instruction === instruction)?.words;
}

const ENTRIES: readonly (readonly [target: string, path: string, command: string])[] = [
  ['kube-dns', '/kube-dns', 'kube-dns'],
  ['coredns', '/coredns', 'coredns'],
  ['node-cache', '/node-cache', 'node-cache'],
  ['dnsmasq', '/usr/sbin/dnsmasq', 'dnsmasq'],
  ['dnsmasq-nanny', '/dnsmasq-nanny', 'dnsmasq-nanny'],
  ['sidecar', '/sidecar', 'sidecar'],
  ['exechealthz', '/exechealthz', 'healthz'],
  ['cluster-proportional-autoscaler', '/cluster-proportional-autoscaler', 'autoscaler'],
];
const ROOT_IN_THE_ORIGINAL = ['dnsmasq', 'dnsmasq-nanny', 'node-cache'];
/** The layer that a target has beyond those of all. */
const FURTHER_LAYERS: ReadonlyMap<string, string> = new Map([
  ['exechealthz', 'shell'],
  ['node-cache', 'network'],
]);

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
    expect([...stages.keys()].at(-1)).toBe('portolan');
  });

  it.each(ENTRIES)('%s: its entry is %s, a link that is called as %s', (target, path, command) => {
    expect(JSON.parse(last(target, 'ENTRYPOINT') ?? '[]')).toContain(path);
    expect(wordsAsCalled(path, [])).toEqual([command]);
    const links = stages.get('build')?.statements.find(({ words }) => words.includes('ln -s'))?.words ?? '';
    const loop = /for name in ([^;]*); do ln -s \S+ "\/image\/\$name"/.exec(links)?.[1]?.split(' ') ?? [];
    expect(links.includes(` /image${path} `) || loop.includes(path.slice(1))).toBe(true);
  });

  it.each(['portolan', ...ENTRIES.map(([target]) => target)])(
    '%s: shares all layers with the others',
    (target) => {
      const layers = allOf(target).filter(({ instruction }) => ['RUN', 'COPY', 'ADD'].includes(instruction));
      const shared = stages.get('all')?.statements.filter(({ instruction }) => instruction === 'COPY') ?? [];
      const further = FURTHER_LAYERS.get(target);
      const layer = { instruction: 'COPY', words: `--from=build /root-of/${further}/ /` };
      expect(layers).toEqual(further === undefined ? shared : [...shared, layer]);
      // Emulation is needed for nothing but this.
      expect(layers.map(({ instruction }) => instruction)).not.toContain('RUN');
    },
  );

  it.each(['portolan', ...ENTRIES.map(([target]) => target)])(
    '%s: is root only where the original is',
    (target) => {
      const user = last(target, 'USER');
      if (ROOT_IN_THE_ORIGINAL.includes(target)) expect(user).toBeUndefined();
      // By number: kubelet cannot know whether a name is root.
      else expect(user).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    },
  );

  it.each(['portolan', ...ENTRIES.map(([target]) => target)])('%s: process 1 reaps', (target) => {
    expect(JSON.parse(last(target, 'ENTRYPOINT') ?? '[]').slice(0, 2)).toEqual(['/usr/bin/tini', '--']);
  });

  it('has labels of the Open Container Initiative, with the version of the package', () => {
    const { version, description, license } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(last('all', 'LABEL')).toContain(`description="${description}"`);
    expect(last('all', 'LABEL')).toContain(`licenses="${license}"`);
    expect(allOf('all')).toContainEqual({ instruction: 'ARG', words: `VERSION=${version}` });
  });

  it('has the commands that the manifests name', () => {
    const paths = ENTRIES.map(([, path]) => path);
    for (const { command = [] } of containersOf('three')) expect(paths).toContain(command[0]);
  });

  it('is sent all that it copies, and no more than is there', () => {
    const lines = readFileSync('.dockerignore', 'utf8')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    expect(lines[0]).toBe('*');
    const sent = lines.slice(1).map((line) => line.replace(/^!/, ''));
    for (const path of sent) expect(existsSync(path)).toBe(true);
    const { files } = JSON.parse(readFileSync('package.json', 'utf8')) as { files: readonly string[] };
    // What the package ships, but for what is built and what only people read.
    const others = ['dist', '!dist/**/*.map', 'docs', 'README.md', 'CHANGELOG.md', 'web'];
    for (const file of files.filter((each) => !others.includes(each))) expect(sent).toContain(file);
  });
});
