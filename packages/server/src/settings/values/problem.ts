/**
 * A fault in a configuration. Problems are collected in lists and reported together.
 */
export interface Problem {
  /** The flag, or the file and line. */
  readonly where: string;
  /** The fault. */
  readonly fault: string;
  readonly value: string | undefined;
  /** How to fix it: a whole sentence. */
  readonly remedy: string;
}

/** Formats a problem as one line: position, fault and value, then the remedy. */
export function describeProblem({ where, fault, value, remedy }: Problem): string {
  const shown = value === undefined ? '' : `: ${JSON.stringify(value)}`;
  return `${where}: ${fault}${shown}. ${remedy}`;
}

/** A flag that no table has. */
export function makeUnknownFlagProblem(flag: string, remedy: string): Problem {
  return { where: flag, fault: 'unknown flag', value: undefined, remedy };
}

/** A value that passed all checks, or all its problems. */
export type Checked<Value> =
  | { readonly kind: 'good'; readonly value: Value }
  | { readonly kind: 'bad'; readonly problems: readonly Problem[] };
