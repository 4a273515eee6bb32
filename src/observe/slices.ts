/**
 * Long work in slices, so that the main thread answers questions in between.
 */
import type { Clock } from '../ground/clock.ts';

const SLICE_MILLISECONDS = 2;
const SLICE_CHARACTERS = 65_536;

/** Takes pieces of text until they are many or took long, gives them out joined, and lets others work before the next. */
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
