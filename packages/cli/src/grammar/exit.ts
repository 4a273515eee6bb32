/**
 * Ends a command with an exit code, after all messages are printed.
 */
export class ExitError extends Error {
  override readonly name = 'ExitError';
  /** 1: the command failed; 2: wrong arguments; 3: nothing could be looked at. */
  readonly code: 1 | 2 | 3;

  constructor(code: 1 | 2 | 3) {
    super(`exit with code ${code}`);
    this.code = code;
  }
}
