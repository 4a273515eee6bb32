/**
 * `portolan version`: which build this is.
 */
import type { Command } from 'commander';
import { COMMAND_SUMMARIES } from './command-summaries.ts';

/** Written into the bundle when it is built. */
declare const PORTOLAN_VERSION: string | undefined;

/** The version of the package, or `unbuilt` when its source runs without a build. */
export const VERSION: string = typeof PORTOLAN_VERSION === 'string' ? PORTOLAN_VERSION : 'unbuilt';

export function addVersionCommand(program: Command): void {
  program
    .command('version')
    .description(COMMAND_SUMMARIES.version)
    .helpOption('-h, --help', 'print this help')
    .action(() => {
      const { version, platform, arch } = process;
      process.stdout.write(`portolan ${VERSION} (Node ${version}, ${platform} ${arch})\n`);
    });
}
