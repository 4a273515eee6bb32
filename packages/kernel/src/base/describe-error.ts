/**
 * What a caught value says, for messages and logs. Any value can be thrown, so none is trusted to have words.
 */

/** The message of an error; the text of any other value. */
export function describeError(error: unknown): string {
  try {
    return error instanceof Error ? error.message : String(error);
  } catch {
    return 'an error without words';
  }
}

/** An error with its stack: for a defect of the program, in the log. */
export function describeDefect(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : describeError(error);
}
