/**
 * Waits for a condition, never for a time.
 */
import { setImmediate, setTimeout } from 'node:timers/promises';

/** Turns of the event loop that a condition of this process needs. */
const TURNS = 100;
/** Milliseconds between two looks at what other processes do, which need the processor. */
const PAUSE = 3;

/** Checks the condition after each turn of the event loop, and less often once other processes are waited for. */
export async function waitUntil(
  what: string,
  condition: () => boolean,
  { deadline = 30_000, step = () => {} }: { readonly deadline?: number; readonly step?: () => void } = {},
): Promise<void> {
  const end = performance.now() + deadline;
  for (let turns = 0; !condition(); turns += 1) {
    if (performance.now() > end) throw new Error(`waited ${deadline} ms in vain for: ${what}`);
    step();
    await (turns < TURNS ? setImmediate() : setTimeout(PAUSE));
  }
}
