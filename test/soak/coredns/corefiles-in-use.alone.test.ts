/**
 * Corefiles in use start: 45 whole ones, and the 30 shapes that are most common in public repositories.
 *
 * `corefile check` accepts those that start, and only those. The recorded cases start the 45 whole ones that are accepted, and ask them.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { CaseCluster } from '../../coredns/runner/case-cluster.ts';
import { type RecordedCase, read, readGroup } from '../../coredns/runner/recorded-case.ts';
import { runCase } from '../../coredns/runner/running-case.ts';
import { readRecorded } from '../../corefile/read-recorded.ts';

const FOLDER = join(import.meta.dirname, '../../coredns/shapes');

let cluster: CaseCluster | undefined;

beforeAll(async () => {
  cluster = await CaseCluster.start();
});

/** The first 45 of the recorded cases are whole Corefiles of installers, guides and companies. */
function listWhole(): readonly RecordedCase[] {
  return readGroup('real-corefiles')
    .map(({ spec }) => spec)
    .filter(({ name }) => Number(/^real-(\d+)/.exec(name)?.[1]) <= 45);
}

function listShapes(): readonly RecordedCase[] {
  const read = (path: string) => readFileSync(join(FOLDER, path), 'utf8');
  const support = readdirSync(join(FOLDER, 'support')).map((file) => `support/${file}`);
  const files = Object.fromEntries(support.map((path) => [path, read(path)]));
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.Corefile'))
    .map((file) => {
      const corefile = read(file);
      const [, about = ''] = /^# (.*)\n/.exec(corefile) ?? [];
      const env = { CACHE_TTL: '60', UPSTREAM: '{UP1}' };
      return { name: file, about, corefile, files, env, certs: corefile.includes('cert.pem') };
    });
}

function readProblems(spec: RecordedCase): readonly string[] {
  const reading = readRecorded({ ...spec, corefile: spec.corefile ?? '' });
  return reading.kind === 'bad' ? reading.problems.map(({ message }) => message) : [];
}

describe('a whole Corefile', () => {
  const specs = listWhole();
  it('is one of 45', () => expect(specs).toHaveLength(45));

  it.each(specs.map((spec) => [spec.name, spec] as const))('%s is accepted', (_, spec) =>
    expect(readProblems(spec)).toEqual([]),
  );

  it('is a case that is run', () => {
    const later = Object.values(read<Readonly<Record<string, readonly string[]>>>('../later-cases.json'));
    // `recorded-coredns.soak.test.ts` of etcd starts the one with etcd.
    const left = later.flat().filter((name) => specs.some((spec) => spec.name === name));
    expect(left).toEqual(['real-36-etcd-skydns']);
  });
});

describe('a common shape', () => {
  const specs = listShapes();
  it('is one of 30', () => expect(specs).toHaveLength(30));

  it.concurrent.each(specs.map((spec) => [spec.name, spec] as const))('%s starts', async (_, spec) => {
    expect(readProblems(spec)).toEqual([]);
    const { start } = await runCase({ ...spec, steps: [] }, { cluster });
    expect(start).toEqual({ ok: true });
  });
});
