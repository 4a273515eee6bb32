/**
 * Makes the C library's allocator return freed memory. By default, glibc keeps a heap for each allocating thread, and
 * Node has a dozen. The larger the freed blocks were, the less it returns: megabytes in a process that should stay
 * small.
 */
import type { LibraryHandle } from 'koffi';

/** Parameters of `mallopt`, as glibc's `malloc.h` has them. */
const M_TRIM_THRESHOLD = -1;
const M_MMAP_THRESHOLD = -3;
const M_ARENA_MAX = -8;
/** glibc's initial values; once set explicitly, they no longer grow. */
const THRESHOLD_OCTETS = 128 * 1024;

/** Applies to the whole process from now on. Without effect if the library has no `mallopt` (musl). */
export function returnFreedMemory(library: LibraryHandle): void {
  const mallopt = find(library, 'int mallopt(int parameter, int value)');
  mallopt?.(M_ARENA_MAX, 1);
  mallopt?.(M_TRIM_THRESHOLD, THRESHOLD_OCTETS);
  mallopt?.(M_MMAP_THRESHOLD, THRESHOLD_OCTETS);
}

/**
 * A function that returns free pages in the middle of all heaps. Threads that ran before the call above keep heaps of their own: V8
 * compiles there, and its start leaves 10 MB and more free. Without effect if the library has no `malloc_trim` (musl).
 */
export function heapTrimmer(library: LibraryHandle): () => void {
  const trim = find(library, 'int malloc_trim(size_t pad)');
  return () => void trim?.(0);
}

function find(library: LibraryHandle, prototype: string): ((...values: number[]) => number) | undefined {
  try {
    return library.func(prototype);
  } catch {
    return undefined;
  }
}
