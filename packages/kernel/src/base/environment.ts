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

/** Expands `$NAME` and `${NAME}` as Go's `os.ExpandEnv` does; variables that are not set are empty. */
export function expandVariables(text: string, environment: Environment): string {
  return text.replace(
    /\$(?:\{(\w+)\}|(\w+))/g,
    (_whole, braced: string | undefined, bare: string | undefined) =>
      readVariable(environment, braced ?? bare ?? '') ?? '',
  );
}
