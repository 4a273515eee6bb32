/**
 * Identifies the build of the program.
 */

/** Set in the bundle at build time. */
declare const PORTOLAN_VERSION: string | undefined;

/** The version of the package, or `unbuilt` if the program runs from source. */
export const VERSION: string = typeof PORTOLAN_VERSION === 'string' ? PORTOLAN_VERSION : 'unbuilt';
