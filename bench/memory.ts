/**
 * What a process occupies: `VmRSS` now and `VmHWM`, the most it ever was, in mebibytes.
 */
import { readFileSync } from 'node:fs';

export interface Memory {
  readonly resident: number;
  readonly peak: number;
}

const KIBIBYTES_PER_MEBIBYTE = 1024;

/** @throws Error where there is no such process */
export function readMemory(pid: number): Memory {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / KIBIBYTES_PER_MEBIBYTE;
  return { resident: field('VmRSS'), peak: field('VmHWM') };
}
