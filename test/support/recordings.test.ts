/**
 * Recordings are one case a line. What is wrong in one is named by file and line.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { expect, it } from 'vitest';
import { readRecording, readRecordingHeader, writeRecording } from './recordings.ts';

async function writeLines(...lines: readonly string[]): Promise<string> {
  const folder = await makeTemporaryFolder();
  return folder.write('cases.jsonl', lines.map((line) => `${line}\n`).join(''));
}

const listFiles = (ending: string) =>
  readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(ending))
    .map((path) => join('test', path));

it('reads what it has written', async () => {
  const path = await writeLines('{"replaced":true}');
  const cases = [{ name: 'a', text: 'one\ntwo' }, { name: 'b' }];
  writeRecording(path, cases);
  expect(readFileSync(path, 'utf8')).toBe('{"name":"a","text":"one\\ntwo"}\n{"name":"b"}\n');
  expect(readRecording(path)).toEqual(cases);
});

it('keeps the header apart from the cases', async () => {
  const path = await writeLines('{"header":{"recorded":"twice"}}', '{"name":"a"}');
  expect(readRecordingHeader(path)).toEqual({ recorded: 'twice' });
  expect(readRecording(path)).toEqual([{ name: 'a' }]);
});

it('takes a case that has a field "header" for a case', async () => {
  const path = await writeLines('{"name":"a","header":1}');
  expect(readRecording(path)).toEqual([{ name: 'a', header: 1 }]);
  expect(() => readRecordingHeader(path)).toThrow(`recording without a header: ${path}:1`);
});

it.each([
  ['half a case', ['{"name":"a"}', '{"name":']],
  ['an empty line', ['{"name":"a"}', '', '{"name":"b"}']],
])('names file and line of %s', async (_, lines) => {
  const path = await writeLines(...lines);
  expect(() => readRecording(path)).toThrow(`recording with a wrong line: ${path}:2: `);
});

it('refuses a file with a header only', async () => {
  const path = await writeLines('{"header":{}}');
  expect(() => readRecording(path)).toThrow(`recording without cases: ${path}`);
});

it.each(listFiles('.jsonl'))('%s is written as writeRecording writes', (path) => {
  const text = readFileSync(path, 'utf8');
  const header = text.startsWith('{"header":') ? [{ header: readRecordingHeader(path) }] : [];
  const lines = [...header, ...readRecording(path)].map((line) => `${JSON.stringify(line)}\n`);
  expect(text).toBe(lines.join(''));
});

it('leaves only lists that people keep in JSON', () => {
  const long = listFiles('.json').filter((path) => readFileSync(path, 'utf8').split('\n').length > 300);
  expect(long).toEqual([]);
});
