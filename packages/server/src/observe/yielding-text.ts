/**
 * Divides long work into slices, so that the main thread answers queries in between.
 */
import type { Clock } from '@portolan/kernel/base/clock.ts';

const SLICE_MILLISECONDS = 2;
const SLICE_CHARACTERS = 65_536;

/** Joins pieces of text into slices of limited size and time, and yields to the event loop after each slice. */
export async function* inSlices(
  pieces: Iterable<string>,
  clock: Pick<Clock, 'monotonic'>,
): AsyncGenerator<string, void> {
  let text = '';
  let began = clock.monotonic();
  for (const piece of pieces) {
    text += piece;
    if (text.length < SLICE_CHARACTERS && clock.monotonic() - began < SLICE_MILLISECONDS) continue;
    yield text;
    await new Promise((resolve) => setImmediate(resolve));
    text = '';
    began = clock.monotonic();
  }
  if (text !== '') yield text;
}
