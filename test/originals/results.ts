/**
 * What came of the originals: `results.jsonl`, from which a page of the documentation is written.
 *
 * The nightly run starts all of them. `RECORD_ORIGINALS=1` writes what it finds into the file.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readRecording, writeRecording } from '../support/recordings.ts';
import type { OriginalCase } from './cases.ts';
import type { MemoryUse } from './original-pod.ts';

const FILE = 'test/originals/results.jsonl';

export interface OriginalResult {
  readonly id: string;
  /** Of the case and its manifest, so that a result of another one is noticed. */
  readonly digest: string;
  readonly containers: readonly MemoryUse[];
}

export class OriginalResults {
  readonly #results: OriginalResult[] = [];

  add(original: OriginalCase, containers: readonly MemoryUse[]): void {
    this.#results.push({ id: original.id, digest: computeCaseDigest(original), containers });
  }

  /** Writes what was found, and keeps what was not tried, if that is wanted. */
  record(): void {
    if (process.env['RECORD_ORIGINALS'] === undefined) return;
    const found = new Map([...readResults(), ...this.#results].map((result) => [result.id, result]));
    writeRecording(FILE, [...found.values()]);
  }
}

export function readResults(): readonly OriginalResult[] {
  return readRecording<OriginalResult>(FILE);
}

export function computeCaseDigest(original: OriginalCase): string {
  const { title, note, ...meaning } = original;
  const manifest = readFileSync(`test/originals/manifests/${original.manifest}.yaml`, 'utf8');
  return createHash('sha256').update(JSON.stringify(meaning)).update(manifest).digest('hex').slice(0, 16);
}
