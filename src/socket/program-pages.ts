/**
 * The pages of the program file and of its libraries, of which a start touches twice as many as a server goes on to use. The kernel
 * keeps them in this process's page tables until memory is short. Given back, they stay in its cache of files, and those that are
 * used again are mapped again without being read.
 */
import { readFile } from 'node:fs/promises';
import { batchesAvailable, libc } from './libc.ts';

interface Mapping {
  readonly address: bigint;
  readonly octets: number;
}

/** Of `<sys/mman.h>`. */
const MADV_DONTNEED = 4;
/** Address, end, permissions, offset, device, inode, path. What is private and not writable, of a file. */
const FILE_MAPPING = /^(?<start>[0-9a-f]+)-(?<end>[0-9a-f]+) r-[x-]p \S+ \S+ [1-9]\d* +\//;

/** Does nothing where it cannot be done; see `batchesAvailable`. */
export async function releaseProgramPages(): Promise<void> {
  if (batchesAvailable() !== true) return;
  const mappings = unchangedFileMappings(await readFile('/proc/self/smaps', 'latin1').catch(() => ''));
  // A mapping that is locked in memory is refused, and stays.
  for (const { address, octets } of mappings) libc().madvise(address, octets, MADV_DONTNEED);
}

/**
 * What holds nothing but what is in its file. Else the pages must stay: the loader has written addresses into those that the linker
 * marks as read-only after relocation.
 *
 * @param smaps the text of `/proc/PID/smaps`, see proc(5)
 */
export function unchangedFileMappings(smaps: string): readonly Mapping[] {
  return smaps.split(/\n(?=[0-9a-f]+-[0-9a-f]+ )/).flatMap((block) => {
    const { start, end } = FILE_MAPPING.exec(block)?.groups ?? {};
    if (start === undefined || end === undefined || !isUnchanged(block)) return [];
    const address = BigInt(`0x${start}`);
    return [{ address, octets: Number(BigInt(`0x${end}`) - address) }];
  });
}

/** Changed pages are anonymous ones, in memory or swapped out. */
function isUnchanged(block: string): boolean {
  return /^Anonymous: +0 kB$/m.test(block) && /^Swap: +0 kB$/m.test(block);
}
