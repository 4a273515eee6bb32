/**
 * Waits for a condition, never for a time.
 */
import { setImmediate, setTimeout } from 'node:timers/promises';

/** Milliseconds in which what this process does itself is over: no pauses till then. */
const AT_ONCE = 20;
/** Milliseconds between two looks at what other processes do, which need the processor. */
const LONGEST_PAUSE = 50;

/**
 * Checks the condition after each turn of the event loop. Who has waited longer pauses for a tenth of that time.
 *
 * @param step brings the condition about, so that there are no pauses
 * @throws where the condition does, and after the deadline: milliseconds
 */
export async function waitUntil(
  what: string,
  condition: () => boolean | Promise<boolean>,
  { deadline = 30_000, step }: { readonly deadline?: number; readonly step?: () => void } = {},
): Promise<void> {
  const began = performance.now();
  while (!(await condition())) {
    const waited = performance.now() - began;
    if (waited > deadline) throw new Error(`waited ${deadline} ms in vain for: ${what}`);
    step?.();
    const isAtOnce = waited < AT_ONCE || step !== undefined;
    await (isAtOnce ? setImmediate() : setTimeout(Math.min(waited / 10, LONGEST_PAUSE)));
  }
}
