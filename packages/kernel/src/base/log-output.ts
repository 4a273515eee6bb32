/**
 * Writes the lines of a log to standard output or standard error. A line that the stream does not take is lost and counted: its reader
 * has closed the pipe, or reads no more, or a disk is full.
 */

/** Octets that wait for a slow reader. Node.js would keep any number of them in memory. */
export const MAX_WAITING_OCTETS = 4 * 2 ** 20;

/** The part of a stream that a log needs. */
export interface LogStream {
  readonly writableLength: number;
  write(line: string, onWritten: (error?: Error | null) => void): boolean;
}

let lost = 0;

/** @returns a function that writes lines, each with its newline. The stream needs a listener for errors: see `packages/cli/src/process/outputs.ts`. */
export function logLinesTo(stream: LogStream): (line: string) => void {
  const onWritten = (error?: Error | null) => {
    if (error) lost += 1;
  };
  return (line) => {
    if (stream.writableLength > MAX_WAITING_OCTETS) lost += 1;
    else stream.write(line, onWritten);
  };
}

/** Notes lines that were lost elsewhere: in the file of a log. */
export function noteLostLines(count: number): void {
  lost += count;
}

/** Lines of this process that were lost. */
export function countLostLines(): number {
  return lost;
}
