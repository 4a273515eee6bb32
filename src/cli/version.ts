/**
 * Which build of the program this is.
 */

/** Written into the bundle when it is built. */
declare const PORTOLAN_VERSION: string | undefined;

/** The version of the package, or `unbuilt` when its source runs without a build. */
export const VERSION: string = typeof PORTOLAN_VERSION === 'string' ? PORTOLAN_VERSION : 'unbuilt';
