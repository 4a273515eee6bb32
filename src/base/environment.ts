/**
 * The environment of the process, passed as a parameter.
 */

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads a variable whose name comes from outside: `process.env` also has the properties of every object.
 *
 * @returns undefined if it is not set
 */
export function readVariable(environment: Environment, name: string): string | undefined {
  return Object.hasOwn(environment, name) ? environment[name] : undefined;
}
