/**
 * The environment of a benchmark: folders, duration, and progress output.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Cluster } from './cluster.ts';
import { writeQuestions } from './questions.ts';

export interface Workplace {
  /** The repository. */
  readonly root: string;
  /** A folder of its own, removed in the end. */
  readonly folder: string;
  /** How often each server gets its turn. */
  readonly rounds: number;
  /** The length of a turn. */
  readonly seconds: number;
  /** Reports progress, in a line. */
  say(text: string): void;
}

/** @returns the path of dnsperf's input file */
export async function saveQuestions(workplace: Workplace, cluster: Cluster, name: string): Promise<string> {
  const path = join(workplace.folder, `questions-${name}`);
  await writeFile(path, `${writeQuestions(cluster).join('\n')}\n`);
  return path;
}
