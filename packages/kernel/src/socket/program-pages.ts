/**
 * Releases pages that a start used. Of the program file and its libraries it touches twice as many as a server uses later, and
 * the kernel keeps them in this process's page tables until memory is short. Released pages stay in the file cache; those
 * used again are mapped again without a read.
 */
import { readFile } from 'node:fs/promises';
import { batchesAvailable, libc } from './libc.ts';

interface Mapping {
  readonly address: bigint;
  readonly octets: number;
}

/** Of `<sys/mman.h>`. */
const MADV_DONTNEED = 4;
/** Address, end, permissions, offset, device, inode, path: a private, read-only mapping of a file. */
const FILE_MAPPING = /^(?<start>[0-9a-f]+)-(?<end>[0-9a-f]+) r-[x-]p \S+ \S+ [1-9]\d* +\//;

/** Releases unchanged pages of files, and free ones of the heaps. Without effect without the C library; see `batchesAvailable`. */
export async function releasePages(): Promise<void> {
  if (batchesAvailable() !== true) return;
  libc().trimHeaps();
  const mappings = unchangedFileMappings(await readFile('/proc/self/smaps', 'latin1').catch(() => ''));
  // The kernel refuses for a mapping that is locked in memory, and keeps it.
  for (const { address, octets } of mappings) libc().madvise(address, octets, MADV_DONTNEED);
}

/**
 * Mappings that equal their file. Others must stay: the loader has written addresses into pages that the linker marks
 * as read-only after relocation.
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

/** The kernel counts changed pages as anonymous, in memory or swapped out. */
function isUnchanged(block: string): boolean {
  return /^Anonymous: +0 kB$/m.test(block) && /^Swap: +0 kB$/m.test(block);
}
