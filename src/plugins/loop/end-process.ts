/**
 * Ends the process on errors from which a server cannot recover.
 */

/** @param message a line for people, in the words of CoreDNS */
export function endProcess(message: string): void {
  process.stdout.write(`[FATAL] ${message}\n`, () => process.exit(1));
}
