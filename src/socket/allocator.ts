/**
 * Has the C library's allocator give back what is freed. By itself glibc keeps a heap for each thread that allocates, of which Node
 * has a dozen, and returns less the larger the blocks were that have been freed: megabytes in a process that is asked to be small.
 */
import type { LibraryHandle } from 'koffi';

/** Parameters of `mallopt`, as glibc's `malloc.h` has them. */
const M_TRIM_THRESHOLD = -1;
const M_MMAP_THRESHOLD = -3;
const M_ARENA_MAX = -8;
/** Where glibc begins; set by us, they no longer grow. */
const THRESHOLD_OCTETS = 128 * 1024;

/** Holds for the whole process from now on. Nothing happens where the library has no `mallopt`, as musl. */
export function returnFreedMemory(library: LibraryHandle): void {
  let mallopt: (parameter: number, value: number) => number;
  try {
    mallopt = library.func('int mallopt(int parameter, int value)');
  } catch {
    return;
  }
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_TRIM_THRESHOLD, THRESHOLD_OCTETS);
  mallopt(M_MMAP_THRESHOLD, THRESHOLD_OCTETS);
}
