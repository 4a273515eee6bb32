/**
 * The memory of a process in mebibytes: `VmRSS` now, the part of it without files (`RssAnon` and `RssShmem`), and `VmHWM`,
 * its peak.
 */
import { readFileSync } from 'node:fs';

export interface Memory {
  readonly resident: number;
  readonly anonymous: number;
  readonly peak: number;
}

const KIBIBYTES_PER_MEBIBYTE = 1024;

/** @throws Error where there is no such process */
export function readMemory(pid: number): Memory {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / KIBIBYTES_PER_MEBIBYTE;
  const anonymous = field('RssAnon') + field('RssShmem');
  return { resident: field('VmRSS'), anonymous, peak: field('VmHWM') };
}
