/**
 * The environment of the process, as those see it who are given it.
 */

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * A variable whose name others have written: `process.env` has the properties of every object beside its variables.
 *
 * @returns undefined where it is not set
 */
export function readVariable(environment: Environment, name: string): string | undefined {
  return Object.hasOwn(environment, name) ? environment[name] : undefined;
}
