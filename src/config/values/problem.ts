/**
 * What is wrong with a configuration: a list, since all of it is reported together.
 */
export interface Problem {
  /** The flag, or the file and line, that it stands in. */
  readonly where: string;
  /** What failed. */
  readonly fault: string;
  readonly value: string | undefined;
  /** What to do about it: a whole sentence. */
  readonly remedy: string;
}

/** One line: where, what, the value; then the remedy. */
export function describeProblem({ where, fault, value, remedy }: Problem): string {
  const shown = value === undefined ? '' : `: ${JSON.stringify(value)}`;
  return `${where}: ${fault}${shown}. ${remedy}`;
}

/** A value that passed all checks, or everything that is wrong with it. */
export type Checked<Value> =
  | { readonly kind: 'good'; readonly value: Value }
  | { readonly kind: 'bad'; readonly problems: readonly Problem[] };
