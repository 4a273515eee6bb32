/**
 * The real dnsmasq as an oracle: its result for a command line, with files in memory or on disk.
 */
import { spawnSync } from 'node:child_process';

export interface Verdict {
  /** Its exit code. */
  readonly code: number | null;
  readonly said: string;
}

/** @param standardInput read where a file is named `-` */
export function askDnsmasq(words: readonly string[], standardInput = ''): Verdict {
  const run = spawnSync('dnsmasq', words, {
    input: standardInput,
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C.UTF-8' },
    timeout: 10_000,
  });
  return { code: run.status, said: `${run.stdout}${run.stderr}`.trim() };
}
