/**
 * The end of the process for what no server can go on with.
 */

/** @param message a line for people, in the words of CoreDNS */
export function endProcess(message: string): void {
  process.stdout.write(`[FATAL] ${message}\n`, () => process.exit(1));
}
