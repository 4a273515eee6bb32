/**
 * The first reader thread of a server, which is started before the code of the server is loaded: both take about as long. The entry
 * and the servers, which have bundles of their own, share this module.
 */
import { PreparedReader, startThreadOf } from '../listen/reader-threads.ts';
import type { StartThread } from '../listen/udp-reader.ts';
import type { CommandRow } from './command.ts';

/** What has a command end without serving. */
const ENDS = /^--?(h|help|v|version|plugins|setuponly)$/;
/** What has dnsmasq serve in the process that is started. */
const FOREGROUND = /^(-k|-d|--keep-in-foreground|--no-daemon)$/;

/** Built beside this code. */
const ENTRY = new URL('./reader.js', import.meta.url);

let prepared: PreparedReader | undefined;

/** Starts the thread where the command is sure to need it with these words behind it. */
export function prepareFirstReader({ serves }: CommandRow, words: readonly string[]): void {
  const isSure =
    serves === 'always' || (serves === 'in the foreground' && words.some((word) => FOREGROUND.test(word)));
  // Elsewhere there are no readers.
  if (process.platform !== 'linux' || !isSure || words.some((word) => ENDS.test(word))) return;
  prepared = new PreparedReader(ENTRY);
}

export const startReader: StartThread = (data) => prepared?.take(data) ?? startThreadOf(ENTRY)(data);

/** Ends the thread where the server has started without it. */
export async function endUnusedReader(): Promise<void> {
  await prepared?.end();
}
