/**
 * `reload`: checks for changes of the configuration.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import { parseGoDuration } from '@portolan/corefile/directive/go-values.ts';

export interface ReloadOptions {
  /** Milliseconds, from 2000. */
  readonly interval: number;
  /** The interval varies by up to half of this in both directions: milliseconds, at most half the interval. */
  readonly jitter: number;
}

const DEFAULT_INTERVAL = 30_000;
const DEFAULT_JITTER = 15_000;
const MIN_INTERVAL = 2000;
const MIN_JITTER = 1000;
const REMEDY = 'Give an interval from 2s, then a jitter from 1s, or 0s for none.';

/** `reload [INTERVAL] [JITTER]`: 30s and 15s. Source: plugin/reload of CoreDNS 1.14.7. */
export const reload = definePlugin({
  name: 'reload',
  syntax: ['reload [INTERVAL] [JITTER]'],
  read(cursor): ReloadOptions {
    let interval = DEFAULT_INTERVAL;
    let jitter = DEFAULT_JITTER;
    cursor.firstUse(() => {
      const [first, second] = cursor.remainingBetween(0, 2);
      if (first !== undefined) interval = cursor.bare(parseGoDuration(first), REMEDY);
      if (interval < MIN_INTERVAL)
        throw cursor.bareError('interval value must be greater or equal to 2s', REMEDY);
      if (second !== undefined) jitter = cursor.bare(parseGoDuration(second), REMEDY);
      if (jitter !== 0 && jitter < MIN_JITTER)
        throw cursor.bareError('jitter value must be 0 or greater or equal to 1s', REMEDY);
    });
    return { interval, jitter: Math.min(jitter, interval / 2) };
  },
});
