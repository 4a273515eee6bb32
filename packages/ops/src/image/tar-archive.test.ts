import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { expect, it } from 'vitest';
import { fileEntry, listEntries, type TarEntry, writeTar } from './tar-archive.ts';

/** What `setcap cap_net_bind_service=+ep` sets, in hexadecimal digits. */
const CAPABILITY = '0100000200040000000000000000000000000000';
const BLOCK = 512;

async function makeArchive(entries: AsyncIterable<TarEntry> | Iterable<TarEntry>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of writeTar(entries)) parts.push(part);
  return Buffer.concat(parts);
}

function list(archive: Buffer): string {
  const { stdout, stderr } = spawnSync('tar', ['--list', '--verbose', '--numeric-owner', '--file=-'], {
    input: archive,
    env: { ...process.env, TZ: 'UTC' },
  });
  expect(String(stderr)).toBe('');
  return String(stdout).replaceAll(/ +/g, ' ');
}

it('holds the same octets for the same files, whatever their times, modes and order', async () => {
  const folders = [await makeTemporaryFolder(), await makeTemporaryFolder()] as const;
  const names = ['b', 'a', `long/${'n'.repeat(120)}`];
  for (const [at, folder] of folders.entries()) {
    for (const name of at === 0 ? names : names.toReversed()) await folder.write(name, `content of ${name}`);
    mkdirSync(join(folder.path, 'tmp'));
    chmodSync(join(folder.path, 'tmp'), 0o1777);
    chmodSync(join(folder.path, 'a'), at === 0 ? 0o755 : 0o700);
    chmodSync(join(folder.path, 'b'), at === 0 ? 0o644 : 0o600);
    utimesSync(join(folder.path, 'b'), at, at);
    symlinkSync('b', join(folder.path, 'link'));
  }
  const [one, other] = await Promise.all(folders.map(({ path }) => makeArchive(listEntries(path))));
  expect(one).toEqual(other);
  expect(list(one ?? Buffer.alloc(0)).split('\n')).toEqual([
    '-rwxr-xr-x 0/0 12 1985-10-26 08:15 a',
    '-rw-r--r-- 0/0 12 1985-10-26 08:15 b',
    'lrwxrwxrwx 0/0 0 1985-10-26 08:15 link -> b',
    'drwxr-xr-x 0/0 0 1985-10-26 08:15 long/',
    `-rw-r--r-- 0/0 136 1985-10-26 08:15 long/${'n'.repeat(120)}`,
    'drwxrwxrwt 0/0 0 1985-10-26 08:15 tmp/',
    '',
  ]);
});

it('carries the file capability of a program as an extended attribute', async () => {
  const program = { ...fileEntry('usr/bin/tini', Buffer.from('program'), true), opensLowPorts: true };
  const archive = await makeArchive([program as TarEntry]);
  const record = Buffer.concat([
    Buffer.from('57 SCHILY.xattr.security.capability='),
    Buffer.from(CAPABILITY, 'hex'),
    Buffer.from('\n'),
  ]);
  expect(archive.subarray(BLOCK, BLOCK + record.length)).toEqual(record);
  expect(list(archive)).toBe('-rwxr-xr-x 0/0 7 1985-10-26 08:15 usr/bin/tini\n');
});

it('is what tar reads again', async () => {
  const folder = await makeTemporaryFolder();
  const sizes = [0, 1, BLOCK - 1, BLOCK, BLOCK + 1];
  const archive = await makeArchive(sizes.map((size) => fileEntry(`of-${size}`, Buffer.alloc(size, 'x'))));
  spawnSync('tar', ['--extract', '--directory', folder.path], { input: archive });
  for (const size of sizes)
    expect(readFileSync(join(folder.path, `of-${size}`))).toEqual(Buffer.alloc(size, 'x'));
});
