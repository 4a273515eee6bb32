/**
 * Changes of a text by offsets, which keep all other characters.
 */

export interface TextEdit {
  readonly start: number;
  /** Equal to `start`: only inserts. */
  readonly end: number;
  readonly text: string;
}

/** @param edits in any order; those at the same place apply in their order. They must not overlap. */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  const sorted = edits.toSorted((a, b) => a.start - b.start);
  let shown = '';
  let at = 0;
  for (const { start, end, text: inserted } of sorted) {
    shown += text.slice(at, start) + inserted;
    at = end;
  }
  return shown + text.slice(at);
}
