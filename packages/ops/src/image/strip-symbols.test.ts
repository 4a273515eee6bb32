import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { expect, it } from 'vitest';
import { stripSymbols } from './strip-symbols.ts';

const PROGRAM = readFileSync(process.execPath);

it('leaves a program that runs, without its symbols', async () => {
  const stripped = stripSymbols(PROGRAM);
  expect(stripped.length).toBeLessThan(PROGRAM.length);
  const folder = await makeTemporaryFolder();
  const file = await folder.write('node', stripped);
  spawnSync('chmod', ['+x', file]);
  expect(String(spawnSync(file, ['-p', '6 * 7']).stdout)).toBe('42\n');
});

it('changes nothing that is loaded, and nothing when it is done again', () => {
  const stripped = stripSymbols(PROGRAM);
  const table = Number(stripped.readBigUInt64LE(0x28));
  const end = table - (table % 4096) - 4096;
  // The header names the new place of the section table.
  expect(stripped.subarray(64, end).equals(PROGRAM.subarray(64, end))).toBe(true);
  expect(stripSymbols(stripped).equals(stripped)).toBe(true);
});

it('leaves other files as they are', () => {
  const script = Buffer.from('#!/bin/sh\necho this is a script and no program of 64 bits\n');
  expect(stripSymbols(script) === script).toBe(true);
});
