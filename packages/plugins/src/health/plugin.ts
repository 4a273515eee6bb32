/**
 * `health`: the liveness of the process, over HTTP.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import type { DirectiveCursor } from '@portolan/corefile/directive/directive-cursor.ts';
import { parseGoDuration } from '@portolan/corefile/directive/go-values.ts';
import { readListenAddress } from '@portolan/corefile/directive/listen-address.ts';

export interface HealthOptions {
  /** `host:port` or `:port`. */
  readonly address: string;
  /** How long the server continues to answer after SIGTERM: milliseconds. */
  readonly lameduck: number;
}

const DEFAULT_ADDRESS = ':8080';

/** `health [ADDRESS] { lameduck DURATION }`. Source: plugin/health of CoreDNS 1.14.7. */
export const health = definePlugin({
  name: 'health',
  syntax: ['health [ADDRESS] {', '    lameduck DURATION', '}'],
  read(cursor): HealthOptions {
    let address = DEFAULT_ADDRESS;
    let lameduck = 0;
    cursor.eachUse(() => {
      address = readListenAddress(cursor, address);
      cursor.properties({
        lameduck: () => {
          lameduck = readLameduck(cursor);
        },
      });
    });
    return { address, lameduck };
  },
});

function readLameduck(cursor: DirectiveCursor): number {
  const [text = ''] = cursor.remainingBetween(1, 1);
  const duration = parseGoDuration(text);
  if (duration.kind === 'good') return Math.max(0, duration.value);
  throw cursor.bareError(
    `unable to parse lameduck duration value: '${text}' : ${duration.fault}`,
    'Give a duration such as 5s.',
  );
}
