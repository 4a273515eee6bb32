/**
 * `--blocks-extra` for front ends without a Corefile. The Corefile code is loaded only if the flag is given.
 */
import { readFileSync } from 'node:fs';
import {
  type ExtraPlugins,
  followExtraPlugins,
  NO_EXTRA_PLUGINS,
} from '@portolan/frontends/blocks-extra/extra-plugins.ts';
import type { ExtraReading } from '@portolan/frontends/blocks-extra/settings/extra-plugins.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import type { Log } from '@portolan/kernel/base/log.ts';

/** The file is unreadable or faulty. The message lists all faults with position and remedy. */
export class BlocksExtraError extends Error {
  override readonly name = 'BlocksExtraError';
}

/**
 * Reads the plugins that join the block of a front end.
 *
 * @param path undefined if the flag is not given
 * @throws BlocksExtraError
 */
export async function openExtraPlugins(path: string | undefined, log: Log): Promise<ExtraPlugins> {
  if (path === undefined) return NO_EXTRA_PLUGINS;
  const { readExtraPlugins } = await import('@portolan/frontends/blocks-extra/settings/extra-plugins.ts');
  const { DISK_FILES } = await import('@portolan/corefile/syntax/corefile-files.ts');
  const read = (): ExtraReading => {
    try {
      const text = readFileSync(path, 'utf8');
      return readExtraPlugins({ file: path, text, environment: process.env, files: DISK_FILES });
    } catch (error) {
      const reason = describeError(error);
      return { kind: 'bad', problems: [`--blocks-extra: cannot be read: ${reason}`] };
    }
  };
  const reading = read();
  if (reading.kind === 'bad') throw new BlocksExtraError(reading.problems.join('\n'));
  return followExtraPlugins(reading.plugins, read, log);
}
