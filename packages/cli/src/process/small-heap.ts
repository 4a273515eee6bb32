/**
 * Makes V8 collect garbage instead of growing the heap. Otherwise a burst of queries leaves tens of megabytes that V8 never returns,
 * which matters in small containers. Answers from the table allocate nothing and are not affected.
 *
 * Set at run time, because no other way reaches every container: the entry has no Node command line of its own, and NODE_OPTIONS
 * refuses this flag. The collector reads it at each decision (V8 11 to 13). From the first line on: set later, it leaves the heap that
 * the start has grown to.
 */
import { setFlagsFromString } from 'node:v8';

export function keepHeapSmall(): void {
  setFlagsFromString('--optimize-for-size');
}
