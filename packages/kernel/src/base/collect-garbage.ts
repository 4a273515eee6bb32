/**
 * Collects all garbage of the calling thread, and returns the memory to the kernel at once. By default, V8 keeps
 * several megabytes after a start or a burst of work, as long as the program allocates little.
 *
 * It uses the inspector's protocol within the process, without opening a port; the function of `--expose-gc` would keep
 * the memory. Without an inspector it has no effect.
 */
export async function collectGarbage(): Promise<void> {
  if (!process.features.inspector) return;
  const { Session } = await import('node:inspector');
  const session = new Session();
  session.connect();
  await new Promise<void>((resolve) => session.post('HeapProfiler.collectGarbage', () => resolve()));
  // In a later turn, so that the command can complete.
  setImmediate(() => session.disconnect());
}
