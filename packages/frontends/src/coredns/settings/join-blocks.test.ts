import { DISK_FILES } from '@portolan/corefile/syntax/corefile-files.ts';
import { describeCorefileProblem } from '@portolan/corefile/syntax/findings.ts';
import { expect, it } from 'vitest';
import { findOptions } from '../../plugins/registry.ts';
import { readCorefile } from './read-corefile.ts';

const COREFILE = `.:53 a.test {
  hosts {
    192.0.2.1 own.a.test
  }
  cache
}
b.test {
  whoami
}
`;

function read(extra: string | undefined) {
  return readCorefile(COREFILE, {
    file: 'Corefile',
    profile: '1.14',
    defaultPort: 53,
    environment: {},
    interfaces: new Map(),
    files: DISK_FILES,
    extra: extra === undefined ? undefined : { file: 'extra', text: extra },
  });
}

function good(extra: string) {
  const reading = read(extra);
  if (reading.kind === 'bad') throw new Error(reading.problems.map(describeCorefileProblem).join('\n'));
  return reading;
}

const listPluginNames = (extra: string) =>
  good(extra).blocks.map(({ plugins }) => plugins.map(({ name }) => name).join(' '));

function readProblems(extra: string): readonly string[] {
  const reading = read(extra);
  return reading.kind === 'good' ? [] : reading.problems.map(describeCorefileProblem);
}

it('joins the block of the same zone and port, once', () => {
  expect(listPluginNames('. {\n minimal\n}\n')).toEqual(['cache minimal hosts', 'whoami']);
  expect(listPluginNames('b.test. {\n minimal\n}\n')).toEqual(['cache hosts', 'minimal whoami']);
  expect(listPluginNames('. a.test:53 b.test {\n minimal\n}\n')).toEqual([
    'cache minimal hosts',
    'minimal whoami',
  ]);
});

it('stands behind the lines of the Corefile', () => {
  const [block] = good('. {\n rewrite name exact x y\n}\na.test {\n rewrite name exact z y\n}\n').blocks;
  expect(block && findOptions(block, 'rewrite')?.rules.length).toBe(2);
  const [, second] = good('b.test {\n cache 10\n}\n').blocks;
  expect(second && findOptions(second, 'cache')).toMatchObject({ success: { maxTtl: 10 } });
});

it('is another configuration', () => {
  const digests = [undefined, '. {\n minimal\n}\n', '. {\n any\n}\n'].map((extra) => read(extra).digest);
  expect(new Set(digests).size).toBe(3);
});

it('names what is wrong with the file, and its line', () => {
  expect(readProblems('c.test {\n minimal\n}\n.:54 {\n minimal\n}\n').join('\n')).toMatch(
    /no server block to join: c\.test\.:53\s+extra:1:[\s\S]*no server block to join: \.:54\s+extra:4:/,
  );
  expect(readProblems('. {\n cache 1 2 3 4\n}\n').join('\n')).toContain('extra:2');
  // As in one block: hosts may be named once.
  expect(readProblems('. {\n hosts {\n  192.0.2.2 x.test\n }\n}\n').join('\n')).toContain('extra:2');
});
