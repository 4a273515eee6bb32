/**
 * Recordings: what an original answered or did, one case a line (JSON Lines).
 *
 * The first line may be a header, `{"header":{…}}`: which program was recorded, and what its cases have in common.
 * Paths are relative to the root of the repository.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { describeError } from '@portolan/kernel/base/describe-error.ts';

interface HeaderLine {
  readonly header: unknown;
}

/**
 * The cases of a recording, without its header.
 *
 * @throws Error that names the file and the line which is no JSON, or the file without cases
 */
export function readRecording<Case>(path: string): readonly Case[] {
  const [first, ...later] = readLines(path);
  const cases = isHeaderLine(first) ? later : [first, ...later];
  if (cases.length === 0) throw new Error(`recording without cases: ${path}`);
  return cases as readonly Case[]; // Recorded in this shape.
}

/** @throws Error if the recording has no header */
export function readRecordingHeader<Header>(path: string): Header {
  const [first] = readLines(path);
  if (!isHeaderLine(first)) throw new Error(`recording without a header: ${path}:1`);
  return first.header as Header; // Recorded in this shape.
}

/** Writes a recording without a header, in place of the one before. */
export function writeRecording(path: string, cases: readonly object[]): void {
  writeFileSync(path, cases.map((each) => `${JSON.stringify(each)}\n`).join(''));
}

function readLines(path: string): readonly unknown[] {
  const lines = readFileSync(path, 'utf8').replace(/\n$/, '').split('\n');
  return lines.map((line, index) => {
    try {
      return JSON.parse(line);
    } catch (error) {
      throw new Error(`recording with a wrong line: ${path}:${index + 1}: ${describeError(error)}`);
    }
  });
}

function isHeaderLine(line: unknown): line is HeaderLine {
  return typeof line === 'object' && line !== null && Object.keys(line).join() === 'header';
}
