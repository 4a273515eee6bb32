/**
 * How a command ends the program with a code of its own, after everything worth saying is said.
 */
export class ExitError extends Error {
  override readonly name = 'ExitError';
  /** 1 for what could not be done, 2 for what was asked wrongly. */
  readonly code: 1 | 2;

  constructor(code: 1 | 2) {
    super(`exit with code ${code}`);
    this.code = code;
  }
}
