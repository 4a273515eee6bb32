import {
  existsSync,
  readFileSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { beforeEach, describe, expect, it } from 'vitest';
import { PidFile } from './pid-file.ts';

let path: string;

beforeEach(async () => {
  path = join((await makeTemporaryFolder()).path, 'pid');
});

describe.each(['new', 'any'] as const)('a pid file, opened where there is %s', (opening) => {
  it('holds the number of the process until it is removed', () => {
    const file = PidFile.write(path, opening);
    expect(readFileSync(path, 'utf8')).toBe(`${process.pid}\n`);
    expect(statSync(path).mode & 0o777).toBe(0o644);
    file.remove();
    expect(existsSync(path)).toBe(false);
    file.remove();
  });

  it('stays where another process has written its number', () => {
    const file = PidFile.write(path, opening);
    writeFileSync(path, '4711\n');
    file.remove();
    expect(readFileSync(path, 'utf8')).toBe('4711\n');
  });

  it('stays where another process with the same number has made it, even at the same inode', () => {
    const file = PidFile.write(path, opening);
    unlinkSync(path);
    const other = PidFile.write(path, opening);
    utimesSync(path, 1, 1);
    file.remove();
    expect(existsSync(path)).toBe(true);
    // The file was modified, so its writer does not remove it either.
    other.remove();
    expect(existsSync(path)).toBe(true);
  });
});

it('takes the place of what another process left', () => {
  writeFileSync(path, '4711 and more');
  PidFile.write(path, 'any');
  expect(readFileSync(path, 'utf8')).toBe(`${process.pid}\n`);
});

it('is not written through a link where it must be new', () => {
  const victim = `${path}-victim`;
  writeFileSync(victim, 'kept');
  symlinkSync(victim, path);
  expect(() => PidFile.write(path, 'new')).toThrow('EEXIST');
  expect(readFileSync(victim, 'utf8')).toBe('kept');
});
