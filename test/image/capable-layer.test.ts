/**
 * The layer with the programs that may open port 53, as a container runtime reads it.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { makeTemporaryFolder } from '../../src/base/testing/temporary-folder.ts';

const BLOCK = 512;
/** What `setcap cap_net_bind_service=+ep` sets, in hexadecimal digits. */
const CAPABILITY = '0100000200040000000000000000000000000000';

interface Entry {
  readonly name: string;
  readonly type: string;
  readonly mode: string;
  readonly content: Buffer;
}

function entriesOf(archive: Buffer): readonly Entry[] {
  const entries: Entry[] = [];
  for (let at = 0; archive[at] !== 0; ) {
    const field = (offset: number, length: number) =>
      archive.toString('latin1', at + offset, at + offset + length).replace(/\0.*/s, '');
    const size = Number.parseInt(field(124, 12), 8);
    const content = archive.subarray(at + BLOCK, at + BLOCK + size);
    entries.push({ name: field(0, 100), type: field(156, 1), mode: field(100, 8), content });
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return entries;
}

function writeLayer(...words: readonly string[]) {
  return spawnSync(process.execPath, ['scripts/capable-layer.mjs', ...words], { maxBuffer: 1 << 20 });
}

it('carries the file capability of each program, and its octets', async () => {
  const folder = await makeTemporaryFolder();
  const whole = await folder.write('whole', Buffer.alloc(2 * BLOCK, 'w'));
  const odd = await folder.write('odd', Buffer.alloc(BLOCK + 7, 'o'));
  const { stdout } = writeLayer(`usr/local/bin/node=${whole}`, `usr/bin/tini=${odd}`);
  const entries = entriesOf(stdout);
  expect(entries.map(({ name, type }) => `${type} ${name}`)).toEqual([
    'x pax-header',
    '0 usr/local/bin/node',
    'x pax-header',
    '0 usr/bin/tini',
  ]);
  expect(entries[1]).toMatchObject({ mode: '0000755', content: readFileSync(whole) });
  expect(entries[3]).toMatchObject({ mode: '0000755', content: readFileSync(odd) });
  const record = Buffer.concat([
    Buffer.from('57 SCHILY.xattr.security.capability='),
    Buffer.from(CAPABILITY, 'hex'),
    Buffer.from('\n'),
  ]);
  expect(record).toHaveLength(57);
  for (const entry of [entries[0], entries[2]]) expect(entry?.content).toEqual(record);
});

it('is read by tar without a complaint', async () => {
  const folder = await makeTemporaryFolder();
  const { stdout } = writeLayer(`usr/bin/tini=${await folder.write('program', 'program')}`);
  const { stdout: listed, stderr } = spawnSync('tar', ['--list', '--verbose', '--file=-'], { input: stdout });
  expect(String(stderr)).toBe('');
  expect(String(listed)).toMatch(/^-rwxr-xr-x 0\/0 +7 .* usr\/bin\/tini\n$/);
});

it('says how it is called', () => {
  const { status, stderr } = writeLayer('usr/bin/tini');
  expect(status).toBe(2);
  expect(String(stderr)).toContain('capable-layer.mjs PATH=FILE');
});
