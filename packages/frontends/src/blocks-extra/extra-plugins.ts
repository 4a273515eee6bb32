/**
 * Plugins of `--blocks-extra`, which join the block of a front end without a Corefile. The file is read again with all settings.
 */
import type { Log } from '@portolan/kernel/base/log.ts';
import type { PluginUse } from '@portolan/kernel/contract/plugin-use.ts';
import type { ExtraReading } from './settings/extra-plugins.ts';

export interface ExtraPlugins {
  /** In query order. */
  readonly uses: readonly PluginUse[];
  /** Reads the file again. @returns false: it has faults, so that the plugins stay, or there is no file */
  reload(): boolean;
}

export const NO_EXTRA_PLUGINS: ExtraPlugins = { uses: [], reload: () => false };

/** @param read reads the current file */
export function followExtraPlugins(
  first: readonly PluginUse[],
  read: () => ExtraReading,
  log: Log,
): ExtraPlugins {
  let uses = first;
  return {
    get uses() {
      return uses;
    },
    reload() {
      const reading = read();
      if (reading.kind === 'good') uses = reading.plugins;
      else for (const reason of reading.problems) log.error('blocks-extra not followed', { reason });
      return reading.kind === 'good';
    },
  };
}
