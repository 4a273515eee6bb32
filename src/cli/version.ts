/**
 * `portolan version`: which build this is.
 */
import { Command } from 'commander';

/** Written into the bundle when it is built. */
declare const PORTOLAN_VERSION: string | undefined;

/** The version of the package, or `unbuilt` when its source runs without a build. */
export const VERSION: string = typeof PORTOLAN_VERSION === 'string' ? PORTOLAN_VERSION : 'unbuilt';

export function createVersionCommand(): Command {
  return new Command('version').description('print the version').action(() => {
    process.stdout.write(
      `portolan ${VERSION} (Node ${process.version}, ${process.platform} ${process.arch})\n`,
    );
  });
}
