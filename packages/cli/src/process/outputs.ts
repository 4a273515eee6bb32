/**
 * Standard output and standard error, for all commands. The entry imports this module, so each of them follows one rule:
 *
 * - A stream that takes no text ends no process. Its reader may have closed the pipe, as a log collector that restarts does, or a disk may
 *   be full. Lines of a log are then lost and counted (`base/log-output.ts`), and the next line is tried again.
 * - A command that prints endless data (`tail`) ends quietly when nobody reads it: see {@link outputClosed}.
 * - A command that prints a result keeps its exit code if the reader closes the pipe, as `head` does. If the result is lost otherwise,
 *   the command says so, and fails.
 */
const closed = new AbortController();
let isNeeded = false;
let hasFailed = false;

/** Aborted when the reader of standard output has closed it, which is noticed with the next write. */
export const outputClosed: AbortSignal = closed.signal;

process.stderr.on('error', () => {});
process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE') closed.abort();
  else if (isNeeded && !hasFailed) fail(message);
});

/** Says that the command exists for what it prints: losing that is a failure. */
export function needOutput(): void {
  isNeeded = true;
}

function fail(reason: string): void {
  hasFailed = true;
  process.stderr.write(
    `portolan: cannot write to standard output: ${reason}. Free space, or print elsewhere.\n`,
  );
  process.once('exit', () => {
    process.exitCode ||= 1;
  });
}

/** Prints a piece of endless data. @returns when standard output has taken it, or never will */
export function printPiece(text: string): Promise<void> {
  return new Promise((resolve) => process.stdout.write(text, () => resolve()));
}
