/**
 * Waits for a condition, never for a time: checks it after each turn of the event loop.
 */
export async function waitUntil(
  what: string,
  condition: () => boolean,
  { deadline = 30_000, step = () => {} }: { readonly deadline?: number; readonly step?: () => void } = {},
): Promise<void> {
  const end = performance.now() + deadline;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`waited ${deadline} ms in vain for: ${what}`);
    step();
    await new Promise((resolve) => setImmediate(resolve));
  }
}
