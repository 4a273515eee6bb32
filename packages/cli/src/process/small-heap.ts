/**
 * Makes V8 collect garbage instead of growing the heap. Otherwise a burst of queries leaves tens of megabytes that V8 never returns,
 * which matters in small containers. Answers from the table allocate nothing and are not affected.
 *
 * Not during the start: most of what it allocates stays, and V8 would look for garbage there in vain, for a sixth of the processor time.
 *
 * Set at run time, because no other way reaches every container: the entry has no Node command line of its own, and NODE_OPTIONS
 * refuses this flag. The collector reads it at each decision (V8 11 to 13).
 */
import { setFlagsFromString } from 'node:v8';

/** Of programs that do not say when their start is over, and of servers that wait for their cluster. */
const MAX_START_MILLISECONDS = 1_000;

/** Call it when the start is over. */
export function keepHeapSmall(): void {
  // A code cache is bound to the flags with which it was made: those of a start.
  if (process.env['PORTOLAN_WRITE_CODE_CACHE'] === '1') return;
  setFlagsFromString('--optimize-for-size');
  // Threads have a copy of the environment; see `cached-bundle.ts`.
  process.env['PORTOLAN_SMALL_HEAP'] = '1';
}

export function keepHeapSmallAfterStart(): void {
  setTimeout(keepHeapSmall, MAX_START_MILLISECONDS).unref();
}
