/**
 * Starts the first reader thread before the server's code is loaded: both take about equally long. The entry and the servers are
 * separate bundles that share this module.
 */
import { makeStartThread, PreparedReader } from '@portolan/kernel/listen/reader-threads.ts';
import type { StartThread } from '@portolan/kernel/listen/udp-reader.ts';

/** When a command serves DNS in this process: always, or only with arguments that keep it in the foreground. */
export type Serves = 'always' | 'in the foreground';

/** Arguments with which a command ends without serving. */
const ENDS = /^--?(h|help|v|version|plugins|setuponly)$/;
/** Arguments with which dnsmasq serves in this process instead of a child. */
const FOREGROUND = /^(-k|-d|--keep-in-foreground|--no-daemon)$/;

/** The bundle of the reader thread, built beside this code. */
const ENTRY = new URL('./reader.js', import.meta.url);

let prepared: PreparedReader | undefined;

/** Whether a command certainly ends without serving. */
export const endsAtOnce = (words: readonly string[]): boolean => words.some((word) => ENDS.test(word));

/** Starts the thread if the command with these arguments certainly needs it. */
export function prepareFirstReader(serves: Serves | undefined, words: readonly string[]): void {
  const isSure =
    serves === 'always' || (serves === 'in the foreground' && words.some((word) => FOREGROUND.test(word)));
  // Other platforms have no reader threads.
  if (process.platform !== 'linux' || !isSure || endsAtOnce(words)) return;
  try {
    prepared = new PreparedReader(ENTRY);
  } catch {
    // The server starts one itself, and reports the error.
  }
}

export const startReader: StartThread = (data) => prepared?.take(data) ?? makeStartThread(ENTRY)(data);

/** Ends the prepared thread if the server did not take it. */
export async function endUnusedReader(): Promise<void> {
  await prepared?.end();
}
